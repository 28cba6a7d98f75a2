"""Facts of files to links between them: pure, without a lake, a Spark session or Dagster.

Invariant: links are a function of the files' facts alone, whatever was linked before, in whatever order. Reason:
an update may then relink the few files that could differ and keep all others' rows. Every file's linking records
what it read of other files, misses included, and what it told them; see `rounds`. Cost: of a clean run, linear in
the files' flow programs times the rounds; of an update, in what the edit can reach.
"""
