"""Source bytes to columns of local facts: pure, without a Spark session and without Dagster.

Invariant: what is extracted from a blob depends on the blob, its path and the extractor's version, on
nothing else. Reason: it can then be kept by content and never be made twice, and any worker
can make it. Cost: linear in the bytes read, and paid once per content.
"""
