"""The code property graph: local facts of contents, their links, and the rows of files at the head.

Every asset here follows from others by a derivation; `DERIVATIONS` lists them in the order of the data's way.
"""
