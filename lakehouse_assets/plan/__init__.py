"""Decisions: facts in, a frozen decision out. Nothing here reads or writes anything.

Invariant: every function is pure, so that any decision can be printed before it is carried out.
"""
