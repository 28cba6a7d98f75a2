"""Rows from files and over HTTP.

Invariants: a file or page is the owner of its rows, so that landing it again replaces them and leaves each row once. It
is on record in `landed_sources` only after its rows are committed; a kill between the two makes it land again, to the
same rows. What cannot be read is on record by name, with the reason, and is tried again when it changes.

Cost: what is new or changed; a file that is on record costs one hash of its content, a page nothing.
"""
