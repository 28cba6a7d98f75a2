; --- definitions
(module name: (_) @name) @definition.namespace
(class name: (_) @name) @definition.class
(method name: (_) @name (#eq? @name "initialize")) @definition.constructor
(method name: (_) @name) @definition.function
(singleton_method name: (_) @name) @definition.method
(assignment left: (constant) @name right: (_) @body) @definition.constant
((call
  method: (identifier) @_accessor
  arguments: (argument_list (simple_symbol) @name @definition.property))
  (#any-of? @_accessor "attr_accessor" "attr_reader" "attr_writer"))
(lambda) @definition.lambda
(call block: [(block) (do_block)] @definition.lambda)

(superclass (_) @base)
((call method: (identifier) @_include arguments: (argument_list [(constant) (scope_resolution)] @base))
  (#any-of? @_include "include" "extend" "prepend"))

; --- calls
(call receiver: (_) @call.receiver method: (_) @call.name) @call
(call !receiver method: (_) @call.name) @call
(super) @call @call.name

; --- imports
((call !receiver method: (identifier) @_require arguments: (argument_list . (string) @import.module)) @import
  (#eq? @_require "require") (#set! kind "require"))
((call !receiver method: (identifier) @_require arguments: (argument_list . (string) @import.module)) @import
  (#any-of? @_require "require_relative" "load") (#set! kind "require_relative"))

; --- names that are bound in the definition around them
(method_parameters (identifier) @local)
(block_parameters (identifier) @local)
(lambda_parameters (identifier) @local)
(optional_parameter name: (_) @local)
(splat_parameter name: (_) @local)
(keyword_parameter name: (_) @local)
(hash_splat_parameter name: (_) @local)
(block_parameter name: (_) @local)
(assignment left: (identifier) @local)
(left_assignment_list (identifier) @local)
(exception_variable (identifier) @local)
(for pattern: (identifier) @local)
