"""Effects on Delta: the Spark session, the tables, what was read up to.

Invariant: a table changes only through this room, one Delta commit for all partitions of a write,
and every commit says what it was made from. Delta DML is SQL text or writer options, never the
`DeltaTable` Java class, so that the same code runs in process, on a resident Spark Connect server
and on a cluster. What Delta's log alone can answer is answered by delta-rs, without a JVM.
"""
