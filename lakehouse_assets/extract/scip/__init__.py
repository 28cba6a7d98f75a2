"""SCIP indexes, in and out: the wire format, the grammar of symbols, and the rules that an index has to keep.

Invariant: any bytes either are an index, or raise an error that names the byte where they stop being one; a
document is read the same whatever the order of its parts. The format is protobuf's, read and written here directly:
a generated reader would build the whole index in memory, and this one holds a document at a time.

Cost: one pass over the bytes; a document's occurrences as tuples while it is being read.
"""
