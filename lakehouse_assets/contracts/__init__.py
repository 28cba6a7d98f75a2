"""One module per table: what its columns are, which of them make the key, who owns a row, how it is partitioned.

Invariant: tables, their documentation and their checks come from the contract alone; no other
module repeats a column list. Contracts are plain frozen data, so that any process can load them
without Spark, Dagster or pandera.
"""
