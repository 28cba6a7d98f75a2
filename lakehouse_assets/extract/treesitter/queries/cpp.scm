; What C++ adds to C.

; --- definitions: a template is part of what it makes general
(template_declaration (class_specifier name: (_) @name body: (_) @body) @itself) @definition.class
(template_declaration (struct_specifier name: (_) @name body: (_) @body) @itself) @definition.struct
((template_declaration (function_definition
  declarator: [(function_declarator declarator: [(identifier) (field_identifier) (qualified_identifier) (destructor_name) (operator_name)] @name)
    (pointer_declarator declarator: (function_declarator declarator: [(identifier) (field_identifier) (qualified_identifier) (destructor_name) (operator_name)] @name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: [(identifier) (field_identifier) (qualified_identifier) (destructor_name) (operator_name)] @name)))
    (reference_declarator (function_declarator declarator: [(identifier) (field_identifier) (qualified_identifier) (destructor_name) (operator_name)] @name))] body: (_) @body) @itself) @definition.function (#set! split "::"))
((function_definition
  declarator: [(function_declarator declarator: [(identifier) (field_identifier) (qualified_identifier) (destructor_name) (operator_name)] @name)
    (pointer_declarator declarator: (function_declarator declarator: [(identifier) (field_identifier) (qualified_identifier) (destructor_name) (operator_name)] @name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: [(identifier) (field_identifier) (qualified_identifier) (destructor_name) (operator_name)] @name)))
    (reference_declarator (function_declarator declarator: [(identifier) (field_identifier) (qualified_identifier) (destructor_name) (operator_name)] @name))]) @definition.function (#set! split "::"))
((function_definition
  declarator: (operator_cast) @name) @definition.function)
(class_specifier name: (_) @name body: (_)) @definition.class
(namespace_definition name: (_) @name) @definition.namespace
(namespace_definition !name) @definition.namespace
(alias_declaration name: (_) @name) @definition.type
(concept_definition name: (_) @name) @definition.type
(lambda_expression) @definition.lambda
(field_declaration declarator: [(function_declarator declarator: [(field_identifier) (operator_name)] @name)
    (pointer_declarator declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name)))
    (reference_declarator (function_declarator declarator: [(field_identifier) (operator_name)] @name))]) @definition.method
(field_declaration_list (declaration
  declarator: (function_declarator declarator: [(identifier) (destructor_name)] @name)) @definition.constructor)
(declaration declarator: (reference_declarator (function_declarator declarator: (identifier) @name))) @definition.prototype

(base_class_clause [(type_identifier) (template_type) (qualified_identifier)] @base)

; --- calls
(call_expression function: (qualified_identifier scope: (_) @call.receiver name: (identifier) @call.name)) @call
(call_expression function: (qualified_identifier
  scope: (_) @call.receiver name: (template_function name: (_) @call.name))) @call
(call_expression function: (qualified_identifier
  scope: (_) name: (qualified_identifier scope: (_) @call.receiver name: (identifier) @call.name))) @call
(call_expression function: (template_function name: (_) @call.name)) @call
(call_expression function: (field_expression
  argument: (_) @call.receiver field: (template_method name: (_) @call.name))) @call
(new_expression type: (type_identifier) @call.name) @call
(new_expression type: (template_type name: (_) @call.name)) @call
(new_expression type: (qualified_identifier scope: (_) @call.receiver name: (_) @call.name)) @call

; --- imports
((using_declaration "namespace" (_) @import.module) @import (#set! kind "using"))
((using_declaration (qualified_identifier scope: (_) @import.module name: (_) @import.name)) @import
  (#set! kind "using"))

; --- names that are bound in the definition around them
(optional_parameter_declaration declarator: (identifier) @local)
(reference_declarator (identifier) @local)
(type_parameter_declaration (type_identifier) @local)
(for_range_loop declarator: (identifier) @local)
