; What C and C++ share.

; --- definitions
(struct_specifier name: (_) @name body: (_)) @definition.struct
(union_specifier name: (_) @name body: (_)) @definition.union
(enum_specifier name: (_) @name body: (_)) @definition.enum
(enumerator name: (_) @name) @definition.enum_member
; a struct without a name is known by the typedef around it
(type_definition
  type: (struct_specifier !name body: (_) @body) @itself declarator: (type_identifier) @name) @definition.struct
(type_definition
  type: (union_specifier !name body: (_) @body) @itself declarator: (type_identifier) @name) @definition.union
(type_definition
  type: (enum_specifier !name body: (_) @body) @itself declarator: (type_identifier) @name) @definition.enum
(type_definition declarator: (type_identifier) @name) @definition.type
(type_definition declarator: (pointer_declarator declarator: (type_identifier) @name)) @definition.type
(type_definition declarator: (array_declarator declarator: (type_identifier) @name)) @definition.type
(type_definition
  declarator: (function_declarator
    declarator: (parenthesized_declarator
      (pointer_declarator declarator: (type_identifier) @name)))) @definition.type
(struct_specifier !name body: (_)) @definition.struct
(union_specifier !name body: (_)) @definition.union
(enum_specifier !name body: (_)) @definition.enum
(preproc_def name: (_) @name value: (_)? @body) @definition.macro
(preproc_function_def name: (_) @name value: (_)? @body) @definition.macro

; several fields in one declaration are each defined by their part of it, one alone by the whole
(field_declaration declarator: [
    (field_identifier) @name
    (pointer_declarator declarator: (field_identifier) @name)
    (array_declarator declarator: (field_identifier) @name)] @definition.field . ",") @itself
(field_declaration "," . declarator: [
    (field_identifier) @name
    (pointer_declarator declarator: (field_identifier) @name)
    (array_declarator declarator: (field_identifier) @name)] @definition.field) @itself
(field_declaration
  declarator: (function_declarator
    declarator: (parenthesized_declarator
      (pointer_declarator declarator: (field_identifier) @name)))) @definition.field
(field_declaration declarator: [
    (field_identifier) @name
    (pointer_declarator declarator: (field_identifier) @name)
    (array_declarator declarator: (field_identifier) @name)]) @definition.field

; what is only announced
(declaration declarator: [(function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))]) @definition.prototype

; variables
(declaration
  declarator: [(identifier) @name
    (pointer_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @name))
    (array_declarator declarator: (identifier) @name)
    (init_declarator declarator: (identifier) @name)
    (init_declarator declarator: (pointer_declarator declarator: (identifier) @name))
    (init_declarator declarator: (array_declarator declarator: (identifier) @name))] @definition.variable . ",") @itself
(declaration
  "," . declarator: [(identifier) @name
    (pointer_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @name))
    (array_declarator declarator: (identifier) @name)
    (init_declarator declarator: (identifier) @name)
    (init_declarator declarator: (pointer_declarator declarator: (identifier) @name))
    (init_declarator declarator: (array_declarator declarator: (identifier) @name))] @definition.variable) @itself
(declaration
  declarator: [(identifier) @name
    (pointer_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (pointer_declarator declarator: (identifier) @name))
    (array_declarator declarator: (identifier) @name)
    (init_declarator declarator: (identifier) @name value: (_) @body)
    (init_declarator declarator: (pointer_declarator declarator: (identifier) @name) value: (_) @body)
    (init_declarator declarator: (array_declarator declarator: (identifier) @name) value: (_) @body)]) @definition.variable

; --- calls
(call_expression function: (identifier) @call.name) @call
(call_expression function: (field_expression argument: (_) @call.receiver field: (_) @call.name)) @call
(call_expression
  function: (parenthesized_expression (pointer_expression argument: (identifier) @call.name))) @call

; --- imports
((preproc_include path: (system_lib_string) @import.module) @import (#set! kind "include_system"))
((preproc_include path: (string_literal) @import.module) @import (#set! kind "include"))

; --- names that are bound in the definition around them
(parameter_declaration declarator: (identifier) @local)
(pointer_declarator declarator: (identifier) @local)
(array_declarator declarator: (identifier) @local)
(init_declarator declarator: (identifier) @local)
(declaration declarator: (identifier) @local)
(preproc_params (identifier) @local)
