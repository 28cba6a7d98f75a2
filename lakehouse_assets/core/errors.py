"""The one error that people are meant to read: what it is about, what was seen, why it matters, what to do."""

import json
from collections.abc import Mapping

_WIRE_MARK = "lakehouse-error: "


class LakehouseError(Exception):
    """A refusal with its remedy. Everything a caller may want to act on is an attribute."""

    def __init__(self, *, subject: str, seen: str, why: str, remedy: str) -> None:
        self.subject = subject
        self.seen = seen
        self.why = why
        self.remedy = remedy
        super().__init__(f"{subject}: {seen}. {why[:1].upper()}{why[1:]}. What to do: {remedy}.")

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle would call `__init__` with the message alone."""
        return _rebuild, (type(self), self.subject, self.seen, self.why, self.remedy)

    @property
    def parts(self) -> dict[str, str]:
        """All of it as plain values; see `rebuilt`."""
        return {
            "kind": type(self).__name__,
            "subject": self.subject,
            "seen": self.seen,
            "why": self.why,
            "remedy": self.remedy,
        }

    def to_wire(self) -> str:
        """One line that survives being buried in another runtime's traceback; see `from_wire`."""
        return _WIRE_MARK + json.dumps(self.parts)


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


def from_wire(text: str) -> LakehouseError | None:
    """The error that a worker put on the wire, found anywhere in `text`; None if there is none.

    Spark hands a worker's exception home as the text of its traceback, so the parts travel as one line in it.
    """
    for line in text.split("\n"):
        _, mark, tail = line.partition(_WIRE_MARK)
        if mark:
            return rebuilt(json.JSONDecoder().raw_decode(tail)[0])
    return None


def rebuilt(parts: Mapping[str, str]) -> LakehouseError:
    """The error that `parts` are of."""
    kinds = {kind.__name__: kind for kind in LakehouseError.__subclasses__()}
    kind = kinds.get(parts["kind"], LakehouseError)
    return kind(subject=parts["subject"], seen=parts["seen"], why=parts["why"], remedy=parts["remedy"])
