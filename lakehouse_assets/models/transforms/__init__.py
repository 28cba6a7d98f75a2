"""Transforms by name: typed steps in YAML that become one query of Spark SQL.

Invariant: a list of steps is worth the SQL that it compiles to and nothing else, so whatever holds for a model in SQL
(fingerprint, column lineage, environments, tests) holds for it. Columns are known at each step: one that is not there
is refused before anything runs, by step and by the name that was likely meant. Pure.
"""
