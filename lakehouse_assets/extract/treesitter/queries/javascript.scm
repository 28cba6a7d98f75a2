; What is JavaScript's own: TypeScript's grammar names or nests these otherwise.

(field_definition
  property: (_) @name
  value: [(arrow_function) (function_expression)] @itself) @definition.method
(field_definition property: (_) @name) @definition.field
(class_heritage (_) @base)
(formal_parameters (identifier) @local)
