"""Source in many languages as local facts: syntax, definitions, imports and calls, by grammars and query files.

Invariant: any bytes give facts, the same for equal bytes; nothing here raises for what a file says. Reason: what
differs between languages is data (`grammars.toml` and `queries/`), so that a new language is a new file and its
grammar's wheel. Cost: one parse, one run of the queries and one walk; no Python object per node outlives it.

Nothing here knows types or modules: names are matched by their spelling, and what rests on that says so.
"""
