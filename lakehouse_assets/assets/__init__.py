"""Thin Dagster assets: each fetches, makes one call and returns a batch for the IO manager.

Invariant: one asset is one table of the same name, partitioned by repository, and a single run
serves any number of repositories. The commit is decided once per run, by `commits`; every asset
after it reads the repository at the commit that the ledger has for `commits`.
"""
