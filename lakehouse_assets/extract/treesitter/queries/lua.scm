; --- definitions
(function_declaration name: (identifier) @name) @definition.function
(function_declaration name: (dot_index_expression table: (_) @container field: (_) @name)) @definition.function
(function_declaration name: (method_index_expression table: (_) @container method: (_) @name)) @definition.method
(assignment_statement
  (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_definition) @itself .)) @definition.function
(assignment_statement
  (variable_list . name: (dot_index_expression table: (_) @container field: (_) @name) .)
  (expression_list . value: (function_definition) @itself .)) @definition.function
(field name: (identifier) @name value: (function_definition) @itself) @definition.function
(assignment_statement (variable_list . name: (identifier) @name .) (expression_list) @body) @definition.variable
(function_definition) @definition.lambda

; --- calls
(function_call name: (identifier) @call.name) @call
(function_call name: (dot_index_expression table: (_) @call.receiver field: (_) @call.name)) @call
(function_call name: (method_index_expression table: (_) @call.receiver method: (_) @call.name)) @call

; --- imports
((assignment_statement
  (variable_list . name: (identifier) @import.alias .)
  (expression_list . value: (function_call name: (identifier) @_require
    arguments: (arguments . (string) @import.module)) .))
  (#eq? @_require "require"))
((function_call name: (identifier) @_require arguments: (arguments . (string) @import.module)) @import
  (#eq? @_require "require") (#set! kind "require"))

; --- names that are bound in the definition around them
(parameters name: (identifier) @local)
(for_numeric_clause name: (identifier) @local)
(for_generic_clause (variable_list name: (identifier) @local))
(variable_declaration (assignment_statement (variable_list name: (identifier) @local)))
(variable_declaration (variable_list name: (identifier) @local))
