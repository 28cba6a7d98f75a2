"""What an update changed and what that touches: files, definitions, and whoever relies on them.

Invariant: pure functions of two states. Equal states give no change, and the order of rows never matters.
Relational steps are named SQL over contracts, so that either engine can run them and their meaning can be versioned.
"""
