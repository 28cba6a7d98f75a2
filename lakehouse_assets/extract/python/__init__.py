"""Python source as local facts: syntax, scopes, control flow, data flow, and what linking needs.

Invariant: any bytes give facts; nothing here raises for what a file says. A file's tree is let go before the next.
"""
