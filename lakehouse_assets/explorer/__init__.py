"""What people and programs ask of the graph, answered from memory: pages, a JSON API, tools for assistants.

Invariants: read-only; an answer tells of one commit of each repository, because the index is read at versions that
`graph_versions` publishes together; what comes from a repository is text, shown and never obeyed. No JVM.

Reason for a room of its own: it serves, as `automation/` does, and stands on the same rooms below. Cost: the
definitions and links of the lake in memory, in columns, read again when a publication moves them; an answer looks up
a few rows.
"""
