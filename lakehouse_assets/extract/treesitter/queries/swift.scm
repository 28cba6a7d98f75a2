; --- definitions
(class_declaration declaration_kind: "class" name: (_) @name) @definition.class
(class_declaration declaration_kind: "actor" name: (_) @name) @definition.class
(class_declaration declaration_kind: "struct" name: (_) @name) @definition.struct
(class_declaration declaration_kind: "enum" name: (_) @name) @definition.enum
(class_declaration declaration_kind: "extension" name: (_) @name) @definition.extension
(protocol_declaration name: (_) @name) @definition.protocol
(enum_entry name: (_) @name @definition.enum_member . ",") @itself
(enum_entry "," . name: (_) @name @definition.enum_member) @itself
(enum_entry name: (_) @name) @definition.enum_member
(function_declaration name: (simple_identifier) @name) @definition.function
(protocol_function_declaration name: (_) @name) @definition.function
(init_declaration name: _ @name) @definition.constructor
(deinit_declaration "deinit" @name) @definition.method
(subscript_declaration) @definition.property
(typealias_declaration . name: (type_identifier) @name) @definition.type
(class_body (property_declaration name: (pattern bound_identifier: (_) @name)) @definition.property)
(protocol_property_declaration name: (pattern bound_identifier: (_) @name)) @definition.property
(property_declaration name: (pattern bound_identifier: (_) @name)) @definition.variable
(lambda_literal) @definition.lambda

(inheritance_specifier inherits_from: (_) @base)
(attribute) @decorator

; --- calls
(call_expression . (simple_identifier) @call.name) @call
(call_expression . (navigation_expression
  target: (_) @call.receiver suffix: (navigation_suffix suffix: (_) @call.name))) @call

; --- imports
(import_declaration (identifier) @import.module) @import

; --- names that are bound in the definition around them
(parameter name: (simple_identifier) @local)
(lambda_parameter name: (simple_identifier) @local)
(pattern bound_identifier: (simple_identifier) @local)
(if_statement bound_identifier: (simple_identifier) @local)
(guard_statement bound_identifier: (simple_identifier) @local)
(type_parameter (type_identifier) @local)
