; What JavaScript and TypeScript share.

; --- definitions
(function_declaration name: (_) @name) @definition.function
(generator_function_declaration name: (_) @name) @definition.function
(variable_declarator
  name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)] @itself) @definition.function
(variable_declarator name: (identifier) @name value: (class) @itself) @definition.class
(pair
  key: (_) @name
  value: [(arrow_function) (function_expression) (generator_function)] @itself) @definition.method
(assignment_expression
  left: (member_expression
    object: (member_expression object: (_) @container property: (property_identifier) @_prototype)
    property: (property_identifier) @name)
  right: [(arrow_function) (function_expression) (generator_function)] @itself
  (#eq? @_prototype "prototype")) @definition.method
(assignment_expression
  left: [(identifier) @name (member_expression property: (_) @name)]
  right: [(arrow_function) (function_expression) (generator_function)] @itself) @definition.function
(class_declaration name: (_) @name) @definition.class
(class name: (_)? @name) @definition.class
(method_definition name: (_) @name (#eq? @name "constructor")) @definition.constructor
(method_definition name: (_) @name) @definition.method
(function_expression name: (identifier) @name) @definition.function
[(arrow_function) (function_expression) (generator_function)] @definition.lambda
(variable_declarator name: (identifier) @name) @definition.variable

; --- calls
(call_expression function: (identifier) @call.name) @call
(call_expression function: (super) @call.name) @call
(call_expression
  function: (member_expression object: (_) @call.receiver property: (_) @call.name)) @call
(new_expression constructor: (identifier) @call.name) @call
(new_expression
  constructor: (member_expression object: (_) @call.receiver property: (_) @call.name)) @call

; --- imports
(import_statement
  (import_clause (namespace_import (identifier) @import.alias)) source: (string) @import.module) @import
(import_statement source: (string) @import.module) @import
(import_clause (identifier) @import.alias @import.name (#set! name "default"))
(import_specifier name: (_) @import.name alias: (_)? @import.alias)
((export_statement
  (namespace_export (_) @import.alias) source: (string) @import.module) @import (#set! kind "reexport"))
((export_statement source: (string) @import.module) @import (#set! kind "reexport"))
((export_statement "*" @import.name source: (string)) (#set! name "*"))
(export_statement
  (export_clause (export_specifier name: (_) @import.name alias: (_)? @import.alias)) source: (string))
(variable_declarator
  name: (identifier) @import.alias
  value: (call_expression
    function: (identifier) @_require
    arguments: (arguments . (string) @import.module))
  (#eq? @_require "require"))
((call_expression
  function: (identifier) @_require
  arguments: (arguments . (string) @import.module)) @import
  (#eq? @_require "require") (#set! kind "require"))
((call_expression function: (import) arguments: (arguments . (string) @import.module)) @import)

; --- exports
(export_statement !source (export_clause (export_specifier name: (_) @export.name alias: (_)? @export.alias)))
(program (export_statement declaration: (_ name: (_) @export.name)))
(program (export_statement declaration: (_ (variable_declarator name: (identifier) @export.name))))
((export_statement "default" declaration: (_ name: (_) @export.name)) (#set! name "default"))
((export_statement "default" value: (identifier) @export.name) (#set! name "default"))
((assignment_expression
  left: (member_expression object: (identifier) @_exports property: (property_identifier) @export.name))
  (#eq? @_exports "exports"))
((assignment_expression
  left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
  right: (identifier) @export.name)
  (#eq? @_module "module") (#eq? @_exports "exports") (#set! name "default"))

; --- names that are bound in the definition around them
(variable_declarator name: (identifier) @local)
(arrow_function parameter: (identifier) @local)
(rest_pattern (identifier) @local)
(array_pattern (identifier) @local)
(pair_pattern value: (identifier) @local)
(shorthand_property_identifier_pattern) @local
(assignment_pattern left: (identifier) @local)
(catch_clause parameter: (identifier) @local)
(for_in_statement left: (identifier) @local)
(import_clause (identifier) @local)
(namespace_import (identifier) @local)
(import_specifier name: (identifier) @local !alias)
(import_specifier alias: (identifier) @local)

(decorator (_) @decorator)
