; --- definitions
(namespace_definition name: (_) @name body: (_)) @definition.namespace
(class_declaration name: (_) @name) @definition.class
(interface_declaration name: (_) @name) @definition.interface
(trait_declaration name: (_) @name) @definition.trait
(enum_declaration name: (_) @name) @definition.enum
(enum_case name: (_) @name) @definition.enum_member
(function_definition name: (_) @name) @definition.function
(method_declaration name: (_) @name (#eq? @name "__construct")) @definition.constructor
(method_declaration name: (_) @name) @definition.method
(const_element . (name) @name) @definition.constant
(property_declaration (property_element name: (variable_name (name) @name)) @definition.field)
(property_promotion_parameter name: (variable_name (name) @name)) @definition.field
[(arrow_function) (anonymous_function)] @definition.lambda
(object_creation_expression (anonymous_class) @definition.class)

(base_clause [(name) (qualified_name)] @base)
(class_interface_clause [(name) (qualified_name)] @base)
(declaration_list (use_declaration [(name) (qualified_name)] @base))
(attribute) @decorator

; --- calls
(function_call_expression function: (name) @call.name) @call
(function_call_expression function: (qualified_name prefix: (_) @call.receiver (name) @call.name .)) @call
(member_call_expression object: (_) @call.receiver name: (_) @call.name) @call
(nullsafe_member_call_expression object: (_) @call.receiver name: (_) @call.name) @call
(scoped_call_expression scope: (_) @call.receiver name: (_) @call.name) @call
(object_creation_expression . (name) @call.name) @call
(object_creation_expression . (qualified_name prefix: (_) @call.receiver (name) @call.name .)) @call

; --- imports
(namespace_definition name: (_) @package !body)
(namespace_use_declaration) @import
(namespace_use_declaration (namespace_name) @import.prefix body: (_)) @import.group
(namespace_use_clause
  (qualified_name prefix: (_) @import.module (name) @import.name .) alias: (_)? @import.alias)
(namespace_use_clause . (name) @import.name alias: (_)? @import.alias)
([(require_expression (string) @import.module) (require_once_expression (string) @import.module)
  (include_expression (string) @import.module) (include_once_expression (string) @import.module)
  (require_expression (encapsed_string) @import.module) (require_once_expression (encapsed_string) @import.module)
  (include_expression (encapsed_string) @import.module) (include_once_expression (encapsed_string) @import.module)
 ] @import (#set! kind "include"))

; --- names that are bound in the definition around them
(simple_parameter name: (variable_name (name) @local))
(variadic_parameter name: (variable_name (name) @local))
(assignment_expression left: (variable_name (name) @local))
(foreach_statement (pair (variable_name (name) @local)))
(static_variable_declaration name: (variable_name (name) @local))
(catch_clause name: (variable_name (name) @local))
