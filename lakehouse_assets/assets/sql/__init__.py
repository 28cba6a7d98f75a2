"""Tables in from databases and out to them as assets, made from the ingest folder's YAML or from Python.

The whole way of a table is seven steps, each an op of its own in the UI: inspect, decide and land make the table in
the lake; stage, merge, reconcile and record make the table in the target. Each hands plain facts to the next, so that
a run can be taken up at the step that failed.
"""
