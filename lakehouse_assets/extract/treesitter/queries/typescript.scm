; What TypeScript adds to JavaScript.

(abstract_class_declaration name: (_) @name) @definition.class
(interface_declaration name: (_) @name) @definition.interface
(type_alias_declaration name: (_) @name) @definition.type
(enum_declaration name: (_) @name) @definition.enum
(enum_body (property_identifier) @name @definition.enum_member)
(enum_assignment name: (_) @name) @definition.enum_member
(internal_module name: (_) @name) @definition.namespace
(module name: (_) @name) @definition.namespace
(function_signature name: (_) @name) @definition.function
(method_signature name: (_) @name) @definition.method
(abstract_method_signature name: (_) @name) @definition.method
(property_signature name: (_) @name) @definition.property
(public_field_definition
  name: (_) @name
  value: [(arrow_function) (function_expression)] @itself) @definition.method
(public_field_definition name: (_) @name) @definition.field

(extends_clause value: (_) @base)
(extends_type_clause type: (_) @base)
(implements_clause (_) @base)

(import_statement (import_require_clause (identifier) @import.alias source: (string) @import.module)) @import
(import_require_clause (identifier) @local)
((export_statement "=" (identifier) @export.name) (#set! name "default"))

(required_parameter pattern: (identifier) @local)
(optional_parameter pattern: (identifier) @local)
(type_parameter name: (type_identifier) @local)
