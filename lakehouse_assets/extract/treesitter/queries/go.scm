; --- definitions: a method belongs to the type of its receiver
(function_declaration name: (_) @name) @definition.function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @container
    (pointer_type (type_identifier) @container)
    (generic_type type: (_) @container)
    (pointer_type (generic_type type: (_) @container))]))
  name: (_) @name) @definition.method
(type_spec name: (_) @name type: (struct_type (_) @body)) @definition.struct
(type_spec name: (_) @name type: (interface_type) @body) @definition.interface
(type_spec name: (_) @name type: (_) @body) @definition.type
(type_alias name: (_) @name type: (_) @body) @definition.type
(method_elem name: (_) @name) @definition.method
; several names in one declaration are each defined by the name, one alone by the whole
(field_declaration name: (_) @name @definition.field . ",") @itself
(field_declaration "," . name: (_) @name @definition.field) @itself
(field_declaration name: (_) @name) @definition.field
(const_spec name: (_) @name @definition.constant . ",") @itself
(const_spec "," . name: (_) @name @definition.constant) @itself
(const_spec name: (_) @name) @definition.constant
(var_spec name: (_) @name @definition.variable . ",") @itself
(var_spec "," . name: (_) @name @definition.variable) @itself
(var_spec name: (_) @name) @definition.variable
(func_literal) @definition.lambda

; an embedded type lends its members
(field_declaration !name type: (_) @base)
(interface_type (type_elem . (type_identifier) @base .))
(interface_type (type_elem . (qualified_type) @base .))

; --- calls
(call_expression function: (identifier) @call.name) @call
(call_expression function: (selector_expression operand: (_) @call.receiver field: (_) @call.name)) @call
(call_expression function: (parenthesized_expression (identifier) @call.name)) @call
(type_conversion_expression type: (generic_type type: (_) @call.name)) @call

; --- imports
(package_clause (package_identifier) @package)
(import_spec name: (package_identifier) @import.alias path: (_) @import.module) @import
((import_spec name: (dot) @import.name path: (_) @import.module) @import (#set! name "*"))
(import_spec path: (_) @import.module) @import

; --- names that are bound in the definition around them
(import_spec name: (package_identifier) @local)
(parameter_declaration name: (identifier) @local)
(variadic_parameter_declaration name: (identifier) @local)
(type_parameter_declaration name: (identifier) @local)
(short_var_declaration left: (expression_list (identifier) @local))
(range_clause left: (expression_list (identifier) @local))
(receive_statement left: (expression_list (identifier) @local))
(var_spec name: (identifier) @local)
(const_spec name: (identifier) @local)
