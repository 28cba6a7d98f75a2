"""The one error that people are meant to read: what it is about, what was seen, why it matters, what to do."""


class LakehouseError(Exception):
    """A refusal with its remedy. Everything a caller may want to act on is an attribute."""

    def __init__(self, *, subject: str, seen: str, why: str, remedy: str) -> None:
        self.subject = subject
        self.seen = seen
        self.why = why
        self.remedy = remedy
        super().__init__(f"{subject}: {seen}. {why}. What to do: {remedy}.")

    def __reduce__(self) -> tuple[object, ...]:
        """Spark workers send errors home by pickle, which would call `__init__` with the message alone."""
        return _rebuild, (type(self), self.subject, self.seen, self.why, self.remedy)


class BadInputError(LakehouseError):
    """What the user gave cannot be used; nothing was written."""


class EnvironmentNotReadyError(LakehouseError):
    """The machine lacks something (Java, JARs, disk, a free port)."""


class SourceError(LakehouseError):
    """A repository cannot be read as it is."""


class LakeStateError(LakehouseError):
    """The lake is in a state that no run of ours leaves behind; writing on would risk rows."""


def _rebuild(kind: type[LakehouseError], subject: str, seen: str, why: str, remedy: str) -> LakehouseError:
    return kind(subject=subject, seen=seen, why=why, remedy=remedy)
