"""Effects on databases: rows in by high-water mark, rows out by staging and merge.

Invariants: a mark moves in the commit that holds the rows, and a delivery's cursor in the transaction that merges
them. A source is only read. Values of sensitive columns and of connections appear in no message: where a database's
own words could hold them, its error code stands alone.

Cost: what changed, and for a first run one pass in bounded memory: rows are Arrow batches from the wire to the file.
"""
