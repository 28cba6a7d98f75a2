"""Effects outside the lake: where repositories are found, fetched and read.

Invariant: a repository is only ever read. Nothing of it is executed (no hook, filter, codec or
command that it names), nothing is written into it, links are not followed and submodules not
entered; what is not read in place is read from a bare mirror under the lakehouse's home. Rows
leave this room as Arrow batches of a contract, built column-wise and bounded in size.

Reason: repositories come from anyone. Names, messages and contents are arbitrary bytes, so every
text column is decoded by a rule that cannot fail, and every object that cannot be read stops the
run with the object's id and what to do, instead of leaving a gap in the tables.

Cost: a head is a few file reads; commits and snapshots are one object read per commit or tree (and
per file whose header has to be looked at); blobs are read for the ids asked for and no others. A
plain directory has no history to compare with, so each refresh reads its files once.
"""
