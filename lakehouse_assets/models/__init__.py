"""SQL models and environments: what they mean, what a change of them means, and what is to be done. Pure.

Invariants. The version of a model is a fingerprint of everything that decides its rows: its canonical SQL, how it is
stored, and, column by column, the versions of what it reads. Equal versions give equal rows from equal inputs, so a
version is built once, whoever asks for it, and shared by every environment that maps the model to it. An environment
is a frozen mapping from names to versions; it is changed by writing the next mapping as a whole. A plan is a value:
the facts go in, what will run and what will not, and why, comes out.

Reason: a change is then paid for where it shows. A comment or a description changes no version; a new column
changes the version of its model and of those that read it; a filter changes all that follows.

Cost: planning parses the models and reads the log of the tables that they read; it opens no data file.
"""
