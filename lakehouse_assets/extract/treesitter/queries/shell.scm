; --- definitions
(function_definition name: (_) @name) @definition.function
(variable_assignment name: (variable_name) @name) @definition.variable

; --- calls: whatever is run, programs included
(command name: (command_name (word) @call.name)) @call

; --- imports
((command name: (command_name (word) @_source) . argument: (_) @import.module) @import
  (#any-of? @_source "source" ".") (#set! kind "include"))

; --- names that are bound in the definition around them
(variable_assignment name: (variable_name) @local)
(for_statement variable: (variable_name) @local)
