"""A contract that contradicts itself cannot be made."""

import pytest

from lakehouse_assets.contracts.table import Column, TableContract

ID = Column(name="id", type="string", description="Id.")
NOTE = Column(name="note", type="string", nullable=True, description="Note.")


def contract(**changes) -> TableContract:
    parts = {"name": "t", "description": "T.", "columns": (ID, NOTE), "key": ("id",), "strategy": "append_new"}
    return TableContract(**{**parts, **changes})


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"columns": (ID, ID)}, "named twice"),
        ({"key": ("other",)}, "other is not one of its columns"),
        ({"key": ()}, "without a key"),
        ({"key": ("note",)}, "cannot be nullable"),
        ({"partition_by": ("note",)}, "cannot be nullable"),
        ({"owner": "missing"}, "missing is not one of its columns"),
        ({"columns": (Column(name="id", type="binary", description="Id."),)}, "id is binary"),
    ],
)
def test_a_contradiction_is_refused(changes, complaint):
    with pytest.raises(ValueError, match=complaint):
        contract(**changes)


def test_a_description_does_not_change_the_version_and_a_type_does():
    reworded = Column(name="note", type="string", nullable=True, description="Another word.")
    retyped = Column(name="note", type="int", nullable=True, description="Note.")
    assert contract(columns=(ID, reworded)).version == contract().version
    assert contract(columns=(ID, retyped)).version != contract().version
