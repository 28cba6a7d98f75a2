; An element of a component is a use of it; lower-case names are the platform's own elements.

((jsx_opening_element name: (identifier) @call.name) @call (#match? @call.name "^[A-Z]"))
((jsx_self_closing_element name: (identifier) @call.name) @call (#match? @call.name "^[A-Z]"))
