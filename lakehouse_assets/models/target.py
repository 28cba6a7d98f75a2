"""What an environment is to hold: the models that were chosen as their files have them, all others as it has them."""

from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.models.graph import in_order
from lakehouse_assets.models.meaning import Meaning
from lakehouse_assets.models.model import Model, parse_model
from lakehouse_assets.models.project import read_all
from lakehouse_assets.models.stepped import SteppedModel


def target_of(
    local: Mapping[str, Model | SteppedModel],
    stored: Mapping[str, Meaning],
    chosen: Collection[str],
    tables: Mapping[str, TableContract],
    restated: Mapping[str, str] = MappingProxyType({}),
) -> Mapping[str, Meaning]:
    """The meanings that an environment with `stored` ones is to have.

    A direct change is taken only from a chosen model; what follows from it indirectly follows anyway, for a version
    that read the earlier one would no longer be what its definition says. A model that was restated stays so for as
    long as it means the same.
    """
    models: dict[str, Model | SteppedModel] = {}
    for name in sorted({*local, *stored}):
        if name in chosen and name in local:
            models[name] = local[name]
        elif name not in chosen and name in stored:
            models[name] = parse_model(Path("as the environment has it") / f"{name}.sql", stored[name].text)
    ordered = in_order(models)
    marks = {name: meaning.restated for name, meaning in stored.items() if meaning.restated} | dict(restated)
    found = read_all(ordered, tables, marks)
    lapsed = [
        name for name in marks if name in found and name not in restated and found[name].data != stored[name].data
    ]
    while lapsed:  # taking a mark away changes those who read the model, which may carry marks themselves
        for name in lapsed:
            del marks[name]
        found = read_all(ordered, tables, marks)
        lapsed = [
            name for name in marks if name in found and name not in restated and found[name].data != stored[name].data
        ]
    return found
