"""What happened month by month, of all repositories at once.

Invariant: a month is made from the commits that were made in it, and from nothing else, so that a new commit makes its
own month stale and no other. A first-parent line that moved makes those months stale whose commits joined or left it.

Not part of a sync: an update of a repository does not wait for numbers that are asked for once in a while. The job
`activity` makes what is stale, by its schedule, from the UI or by `lakehouse activity`.
"""
