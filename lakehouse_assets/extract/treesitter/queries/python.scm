; Python, for files that the running interpreter's own parser refuses.

(module . (expression_statement (string) @file.doc))

; --- definitions: decorators are part of what they decorate
(decorated_definition
  definition: (function_definition
    name: (identifier) @name
    body: (block . (expression_statement (string) @doc)) @body) @itself @header) @definition.function
(decorated_definition
  definition: (function_definition name: (identifier) @name body: (_) @body) @itself @header) @definition.function
(decorated_definition
  definition: (class_definition
    name: (identifier) @name
    body: (block . (expression_statement (string) @doc)) @body) @itself @header) @definition.class
(decorated_definition
  definition: (class_definition name: (identifier) @name body: (_) @body) @itself @header) @definition.class
(function_definition
  name: (identifier) @name body: (block . (expression_statement (string) @doc))) @definition.function
(function_definition name: (identifier) @name) @definition.function
(class_definition
  name: (identifier) @name body: (block . (expression_statement (string) @doc))) @definition.class
(class_definition name: (identifier) @name) @definition.class
(lambda) @definition.lambda

(class_definition superclasses: (argument_list [(identifier) (attribute) (subscript)] @base))
(decorator (_) @decorator)

; --- calls
(call function: (identifier) @call.name) @call
(call function: (attribute object: (_) @call.receiver attribute: (identifier) @call.name)) @call

; --- imports
(import_statement) @import
(import_statement name: (dotted_name) @import.module)
(import_statement name: (aliased_import name: (dotted_name) @import.module alias: (identifier) @import.alias))
(import_from_statement module_name: (_) @import.module) @import
(import_from_statement name: (dotted_name) @import.name)
(import_from_statement name: (aliased_import name: (dotted_name) @import.name alias: (identifier) @import.alias))
((wildcard_import) @import.name (#set! name "*"))
(future_import_statement "__future__" @import.module) @import
(future_import_statement name: (dotted_name) @import.name)
(future_import_statement name: (aliased_import name: (dotted_name) @import.name alias: (identifier) @import.alias))

; --- names that are bound in the definition around them
(parameters (identifier) @local)
(lambda_parameters (identifier) @local)
(default_parameter name: (identifier) @local)
(typed_parameter . (identifier) @local)
(typed_default_parameter name: (identifier) @local)
(list_splat_pattern (identifier) @local)
(dictionary_splat_pattern (identifier) @local)
(assignment left: (identifier) @local)
(augmented_assignment left: (identifier) @local)
(pattern_list (identifier) @local)
(tuple_pattern (identifier) @local)
(list_pattern (identifier) @local)
(for_statement left: (identifier) @local)
(for_in_clause left: (identifier) @local)
(as_pattern_target (identifier) @local)
(named_expression name: (identifier) @local)
(import_statement name: (dotted_name . (identifier) @local))
(import_from_statement name: (dotted_name . (identifier) @local))
(aliased_import alias: (identifier) @local)
