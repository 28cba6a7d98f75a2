"""The `lakehouse` command.

Invariant: a verb imports what it needs when it runs, so that those which need neither Dagster nor
Spark answer at once. Results go to standard output, progress and errors to standard error. Exit
codes: 0 done, 1 refused or failed (the message says what to do), 2 the command line was wrong.
"""
