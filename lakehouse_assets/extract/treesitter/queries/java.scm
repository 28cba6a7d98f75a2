; --- definitions
(class_declaration name: (_) @name) @definition.class
(interface_declaration name: (_) @name) @definition.interface
(enum_declaration name: (_) @name) @definition.enum
(record_declaration name: (_) @name) @definition.record
(annotation_type_declaration name: (_) @name) @definition.annotation
(object_creation_expression type: (_) @base (class_body) @definition.class @body)
(method_declaration name: (_) @name) @definition.method
(annotation_type_element_declaration name: (_) @name) @definition.method
(constructor_declaration name: (_) @name) @definition.constructor
(compact_constructor_declaration name: (_) @name) @definition.constructor
; several in one declaration are each defined by their part of it, one alone by the whole
(field_declaration declarator: (variable_declarator name: (_) @name) @definition.field . ",") @itself
(field_declaration "," . declarator: (variable_declarator name: (_) @name) @definition.field) @itself
(field_declaration declarator: (variable_declarator name: (_) @name value: (_)? @body)) @definition.field
(constant_declaration declarator: (variable_declarator name: (_) @name) @definition.constant . ",") @itself
(constant_declaration "," . declarator: (variable_declarator name: (_) @name) @definition.constant) @itself
(constant_declaration declarator: (variable_declarator name: (_) @name value: (_)? @body)) @definition.constant
(record_declaration parameters: (formal_parameters (formal_parameter name: (_) @name) @definition.field))
(enum_constant name: (_) @name) @definition.enum_member
(lambda_expression) @definition.lambda

(superclass (_) @base)
(super_interfaces (type_list (_) @base))
(extends_interfaces (type_list (_) @base))
(modifiers [(annotation) (marker_annotation)] @decorator)

; --- calls
(method_invocation !object name: (_) @call.name) @call
(method_invocation object: (_) @call.receiver name: (_) @call.name) @call
(object_creation_expression type: (generic_type . (type_identifier) @call.name)) @call
(object_creation_expression type: (_) @call.name) @call
(explicit_constructor_invocation constructor: (_) @call.name) @call
(method_reference . (_) @call.receiver (identifier) @call.name .) @call

; --- imports
(package_declaration [(identifier) (scoped_identifier)] @package)
((import_declaration "static") @import (#set! kind "static"))
(import_declaration) @import
(import_declaration (scoped_identifier scope: (_) @import.module name: (_) @import.name) .)
((import_declaration (_) @import.module (asterisk) @import.name) (#set! name "*"))

; --- names that are bound in the definition around them
(formal_parameter name: (_) @local)
(spread_parameter (variable_declarator name: (_) @local))
(local_variable_declaration declarator: (variable_declarator name: (_) @local))
(enhanced_for_statement name: (_) @local)
(catch_formal_parameter name: (_) @local)
(resource name: (_) @local)
(lambda_expression parameters: (identifier) @local)
(inferred_parameters (identifier) @local)
(instanceof_expression name: (_) @local)
(type_parameter (type_identifier) @local)
