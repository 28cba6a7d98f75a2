"""How each table is made: one declaration a table, from which all else that is said of it follows.

Invariant: a recipe names every table whose rows its step reads. The Dagster asset (deps, kinds, code version), the
freshness plan, the checks and the docs are made from it; a test compares it with the files that a run opens.
Nothing here imports Dagster, so that what has to be quick can ask what is fresh.
"""
