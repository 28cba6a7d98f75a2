; --- definitions
(function_item name: (_) @name) @definition.function
(function_signature_item name: (_) @name) @definition.function
(struct_item name: (_) @name) @definition.struct
(enum_item name: (_) @name) @definition.enum
(enum_variant name: (_) @name) @definition.enum_member
(union_item name: (_) @name) @definition.union
(trait_item name: (_) @name) @definition.trait
(impl_item trait: (_) @base type: (_) @name) @definition.impl
(impl_item type: (_) @name) @definition.impl
(mod_item name: (_) @name) @definition.namespace
(type_item name: (_) @name) @definition.type
(associated_type name: (_) @name) @definition.type
(field_declaration name: (_) @name) @definition.field
(const_item name: (_) @name) @definition.constant
(static_item name: (_) @name) @definition.variable
(macro_definition name: (_) @name) @definition.macro
(closure_expression) @definition.lambda

(trait_item bounds: (trait_bounds [(type_identifier) (scoped_type_identifier) (generic_type)] @base))

; --- calls
(call_expression function: (identifier) @call.name) @call
(call_expression function: (field_expression value: (_) @call.receiver field: (_) @call.name)) @call
(call_expression function: (scoped_identifier path: (_) @call.receiver name: (_) @call.name)) @call
(call_expression function: (generic_function function: (identifier) @call.name)) @call
(call_expression function: (generic_function
  function: (scoped_identifier path: (_) @call.receiver name: (_) @call.name))) @call
(call_expression function: (generic_function
  function: (field_expression value: (_) @call.receiver field: (_) @call.name))) @call
(macro_invocation macro: (identifier) @call.name) @call
(macro_invocation macro: (scoped_identifier path: (_) @call.receiver name: (_) @call.name)) @call

; --- imports: groups nest
(use_declaration) @import
(scoped_use_list path: (_) @import.prefix) @import.group
(use_list (identifier) @import.name)
(use_list (self) @import.name)
(use_list (scoped_identifier path: (_) @import.module name: (_) @import.name))
(use_declaration argument: (scoped_identifier path: (_) @import.module name: (_) @import.name))
(use_declaration argument: (identifier) @import.module)
(use_as_clause path: (identifier) @import.name alias: (_) @import.alias)
(use_as_clause path: (self) @import.name alias: (_) @import.alias)
(use_as_clause
  path: (scoped_identifier path: (_) @import.module name: (_) @import.name) alias: (_) @import.alias)
((use_wildcard (_) @import.module) @import.name (#set! name "*"))
((use_wildcard) @import.name (#set! name "*"))
(extern_crate_declaration name: (_) @import.module alias: (_)? @import.alias) @import
((mod_item name: (_) @import.module !body) @import (#set! kind "module"))

; --- names that are bound in the definition around them
(parameter pattern: (identifier) @local)
(parameter pattern: (mut_pattern (identifier) @local))
(closure_parameters (identifier) @local)
(let_declaration pattern: (identifier) @local)
(let_condition pattern: (identifier) @local)
(tuple_pattern (identifier) @local)
(tuple_struct_pattern type: (_) (identifier) @local)
(slice_pattern (identifier) @local)
(ref_pattern (identifier) @local)
(reference_pattern (identifier) @local)
(captured_pattern . (identifier) @local)
(field_pattern name: (shorthand_field_identifier) @local)
(field_pattern pattern: (identifier) @local)
(for_expression pattern: (identifier) @local)
(type_parameter name: (_) @local)
(use_list (identifier) @local)
(use_declaration argument: (scoped_identifier name: (identifier) @local))
(use_list (scoped_identifier name: (identifier) @local))
(use_as_clause alias: (identifier) @local)
