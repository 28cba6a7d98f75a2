; --- definitions
(class_definition name: (_) @name) @definition.class
(object_definition name: (_) @name) @definition.object
(trait_definition name: (_) @name) @definition.trait
(enum_definition name: (_) @name) @definition.enum
(simple_enum_case name: (_) @name) @definition.enum_member
(full_enum_case name: (_) @name) @definition.enum_member
((function_definition name: (_) @name) @definition.constructor (#eq? @name "this"))
(function_definition name: (_) @name) @definition.function
(function_declaration name: (_) @name) @definition.function
(type_definition name: (_) @name) @definition.type
(given_definition name: (_) @name) @definition.constant
(template_body (val_definition pattern: (identifier) @name) @definition.field)
(template_body (var_definition pattern: (identifier) @name) @definition.field)
(template_body (val_declaration name: (identifier) @name) @definition.field)
(template_body (var_declaration name: (identifier) @name) @definition.field)
(val_definition pattern: (identifier) @name) @definition.constant
(var_definition pattern: (identifier) @name) @definition.variable
(class_parameter name: (_) @name) @definition.field
(lambda_expression) @definition.lambda

(extends_clause [(type_identifier) (generic_type) (stable_type_identifier)] @base)
(annotation) @decorator

; --- calls
(call_expression function: (identifier) @call.name) @call
(call_expression function: (field_expression value: (_) @call.receiver field: (_) @call.name)) @call
(call_expression function: (generic_function function: (identifier) @call.name)) @call
(call_expression function: (generic_function
  function: (field_expression value: (_) @call.receiver field: (_) @call.name))) @call
(instance_expression . (type_identifier) @call.name) @call
(instance_expression . (generic_type type: (_) @call.name)) @call
(infix_expression left: (_) @call.receiver operator: (identifier) @call.name) @call

; --- imports: the parts of a path stand side by side, so modules are taken from the text
(package_clause name: (_) @package)
(import_declaration) @import
((import_declaration (namespace_selectors)) @import.module (#set! module "^import (.*?)\\.?[{]"))
((import_declaration (namespace_wildcard) @import.name) @import.module
  (#set! module "^import (.*)\\.[_*]") (#set! name "*"))
((import_declaration (as_renamed_identifier name: (_) @import.name alias: (_) @import.alias)) @import.module
  (#set! module "^import (.*)\\."))
((import_declaration (identifier) @import.name .) @import.module (#set! module "^import (.*)\\."))
(namespace_selectors (identifier) @import.name)
(namespace_selectors (arrow_renamed_identifier name: (_) @import.name alias: (_) @import.alias))
(namespace_selectors (as_renamed_identifier name: (_) @import.name alias: (_) @import.alias))
((namespace_selectors (namespace_wildcard) @import.name) (#set! name "*"))

; --- names that are bound in the definition around them
(parameter name: (identifier) @local)
(binding name: (identifier) @local)
(lambda_expression parameters: (identifier) @local)
(val_definition pattern: (identifier) @local)
(var_definition pattern: (identifier) @local)
(enumerator . (identifier) @local)
(case_clause pattern: (identifier) @local)
(type_parameters name: (identifier) @local)
