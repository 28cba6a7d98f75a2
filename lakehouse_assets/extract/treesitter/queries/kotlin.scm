; --- definitions
(class_declaration "interface" name: (_) @name (class_body)? @body) @definition.interface
(class_declaration (modifiers (class_modifier "enum")) name: (_) @name (enum_class_body)? @body) @definition.enum
(class_declaration name: (_) @name (class_body)? @body) @definition.class
(object_declaration name: (_) @name (class_body)? @body) @definition.object
(companion_object name: (_)? @name (class_body)? @body) @definition.object
(object_literal (class_body) @body) @definition.class
(enum_entry . (identifier) @name) @definition.enum_member
(function_declaration name: (_) @name (function_body)? @body) @definition.function
(secondary_constructor (block)? @body) @definition.constructor
(type_alias type: (_) @name) @definition.type
(class_body (property_declaration (variable_declaration . (identifier) @name) "=" . (_) @body) @definition.property)
(class_body (property_declaration (variable_declaration . (identifier) @name)) @definition.property)
(property_declaration (variable_declaration . (identifier) @name) "=" . (_) @body) @definition.variable
(property_declaration (variable_declaration . (identifier) @name)) @definition.variable
(class_parameter ["val" "var"] (identifier) @name . ":") @definition.property
[(lambda_literal) (anonymous_function)] @definition.lambda

(delegation_specifier (user_type) @base)
(delegation_specifier (constructor_invocation . (user_type) @base))
(delegation_specifier (explicit_delegation . (user_type) @base))
(annotation) @decorator

; --- calls
(call_expression . (identifier) @call.name) @call
(call_expression . (navigation_expression . (_) @call.receiver (identifier) @call.name .)) @call

; --- imports
(package_header (qualified_identifier) @package)
(import) @import
((import (qualified_identifier) @import.module "*" @import.name) (#set! name "*"))
((import (qualified_identifier (identifier) @import.name .) @import.module (identifier)? @import.alias) @_import
  (#not-match? @_import "[*]\\s*$") (#set! module "(.*)\\."))

; --- names that are bound in the definition around them
(parameter . (identifier) @local)
(class_parameter . (identifier) @local)
(variable_declaration . (identifier) @local)
(catch_block . (identifier) @local)
(type_parameter (identifier) @local)
