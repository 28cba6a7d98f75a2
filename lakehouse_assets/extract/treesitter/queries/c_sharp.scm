; --- definitions
(namespace_declaration name: (_) @name) @definition.namespace
(class_declaration name: (_) @name) @definition.class
(interface_declaration name: (_) @name) @definition.interface
(struct_declaration name: (_) @name) @definition.struct
(record_declaration name: (_) @name) @definition.record
(enum_declaration name: (_) @name) @definition.enum
(enum_member_declaration name: (_) @name) @definition.enum_member
(delegate_declaration name: (_) @name) @definition.type
(method_declaration name: (_) @name) @definition.method
(local_function_statement name: (_) @name) @definition.function
(constructor_declaration name: (_) @name) @definition.constructor
(destructor_declaration name: (_) @name) @definition.constructor
(operator_declaration operator: _ @name) @definition.method
(indexer_declaration accessors: (_)? @body) @definition.property
(property_declaration name: (_) @name accessors: (_) @body) @definition.property
(property_declaration name: (_) @name) @definition.property
(event_declaration name: (_) @name) @definition.property
; several in one declaration are each defined by their part of it, one alone by the whole
(field_declaration
  (variable_declaration (variable_declarator name: (_) @name) @definition.field . ",")) @itself
(field_declaration
  (variable_declaration "," . (variable_declarator name: (_) @name) @definition.field)) @itself
(field_declaration (variable_declaration (variable_declarator name: (_) @name "=" . (_) @body))) @definition.field
(field_declaration (variable_declaration (variable_declarator name: (_) @name))) @definition.field
(event_field_declaration (variable_declaration (variable_declarator name: (_) @name))) @definition.field
(record_declaration (parameter_list (parameter name: (_) @name) @definition.property))
[(lambda_expression) (anonymous_method_expression)] @definition.lambda

(base_list [(identifier) (qualified_name) (generic_name)] @base)
(base_list (primary_constructor_base_type type: (_) @base))
(attribute) @decorator

; --- calls
(invocation_expression function: (identifier) @call.name) @call
(invocation_expression function: (generic_name . (identifier) @call.name)) @call
(invocation_expression function: (member_access_expression
  expression: _ @call.receiver name: [(identifier) @call.name (generic_name . (identifier) @call.name)])) @call
(invocation_expression function: (conditional_access_expression
  condition: (_) @call.receiver (member_binding_expression name: (_) @call.name))) @call
(object_creation_expression type: [(identifier) @call.name (generic_name . (identifier) @call.name)]) @call
(object_creation_expression type: (qualified_name qualifier: (_) @call.receiver name: (_) @call.name)) @call
(constructor_initializer ["base" "this"] @call.name) @call

; --- imports
(file_scoped_namespace_declaration name: (_) @package)
(using_directive name: (identifier) @import.alias (_) @import.module .) @import
((using_directive "static" [(identifier) (qualified_name)] @import.module) @import (#set! kind "static"))
(using_directive !name [(identifier) (qualified_name)] @import.module) @import

; --- names that are bound in the definition around them
(parameter name: (identifier) @local)
(parameter_list name: (identifier) @local)
(implicit_parameter) @local
(variable_declarator name: (identifier) @local)
(foreach_statement left: (identifier) @local)
(catch_declaration name: (identifier) @local)
(declaration_expression name: (identifier) @local)
(declaration_pattern name: (identifier) @local)
(type_parameter name: (identifier) @local)
