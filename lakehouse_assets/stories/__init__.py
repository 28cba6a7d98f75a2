"""Records of what was done, told to people: pages that open from disk, and JSON.

Invariant: pure. What is told is in the records, nothing is looked up, and equal records give equal pages. Every value
that comes from outside is escaped in one place (`html`), so that it is shown and never obeyed. A page asks the network
for nothing, and runs no script.
"""
