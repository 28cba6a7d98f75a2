"""The graph in the formats of other tools: SCIP, PyCG's JSON, GraphML, CSV for Neo4j.

Invariants: an export of one repository reads every table at the version that tells of its last published commit, as
long as it can be read; every other export at the versions that were current when it began. A file is there whole or
not at all. The same graph gives the same bytes.

Cost: files are taken in groups of neighbouring paths whose rows fit in memory; each group is read from the parts of
the tables that its paths can be in. What is kept between groups are names, not nodes.
"""
