"""All models of a folder, read together: each in the light of those before it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.models.graph import in_order
from lakehouse_assets.models.header import STEPPED
from lakehouse_assets.models.meaning import Meaning, Source, read_meaning, table_source
from lakehouse_assets.models.model import Model, parse_model, place
from lakehouse_assets.models.stepped import SteppedModel, parse_stepped


@dataclass(frozen=True, kw_only=True)
class Project:
    """The models' meanings by name, each after those it reads, and the tables they may read."""

    meanings: Mapping[str, Meaning]
    tables: Mapping[str, TableContract]

    @property
    def parents(self) -> dict[str, tuple[str, ...]]:
        """By model, the models that it reads."""
        return {
            name: tuple(each for each in meaning.inputs if each in self.meanings)
            for name, meaning in self.meanings.items()
        }

    @property
    def tags(self) -> dict[str, tuple[str, ...]]:
        return {name: meaning.header.tags for name, meaning in self.meanings.items()}


def load_project(files: Mapping[Path, str], tables: Mapping[str, TableContract]) -> Project:
    """Parse, order and read the models of these files."""
    models = parse_models(files, tables)
    return Project(meanings=read_all(in_order(models), tables), tables=MappingProxyType(dict(tables)))


def parse_models(files: Mapping[Path, str], tables: Mapping[str, TableContract]) -> dict[str, Model | SteppedModel]:
    """The models of these files by name; a name that is taken is refused."""
    models: dict[str, Model | SteppedModel] = {}
    for path, text in files.items():
        model = parse_stepped(path, text) if path.name.endswith(STEPPED) else parse_model(path, text)
        other = models.get(model.name)
        if other is not None or model.name in tables:
            raise BadInputError(
                subject=place(path, 1),
                seen=f"{model.name} is the name of {f'the model {other.path}' if other else 'a table of the lake'}",
                why="a name in a query stands for one thing",
                remedy="give the model another name",
            )
        models[model.name] = model
    return models


def read_all(
    models: Iterable[Model | SteppedModel],
    tables: Mapping[str, TableContract],
    restated: Mapping[str, str] | None = None,
) -> Mapping[str, Meaning]:
    """The meanings of models that come in order; `restated` has the mark of those to be built once more."""
    sources: dict[str, Source] = {name: table_source(contract) for name, contract in tables.items()}
    meanings: dict[str, Meaning] = {}
    for each in models:
        columns = {name: tuple(source.types) for name, source in sources.items()}
        model = each.as_sql(columns) if isinstance(each, SteppedModel) else each
        meaning = read_meaning(model, sources, restated=(restated or {}).get(model.name, ""))
        _check_partitions(meaning, meanings, tables)
        meanings[model.name] = meaning
        sources[model.name] = meaning.as_source
    return MappingProxyType(meanings)


def shares_partitions(
    meaning: Meaning, name: str, models: Mapping[str, Meaning], tables: Mapping[str, TableContract]
) -> bool:
    """Whether an input is partitioned as the model is, so that a partition is made from the same one of the input."""
    own = meaning.header.partition_by
    if name in models:
        return bool(own) and models[name].header.partition_by == own
    return bool(own) and tables[name].partition_by == own


def _check_partitions(meaning: Meaning, models: Mapping[str, Meaning], tables: Mapping[str, TableContract]) -> None:
    own = meaning.header.partition_by
    if own and not any(shares_partitions(meaning, name, models, tables) for name in meaning.inputs):
        raise BadInputError(
            subject=f"model {meaning.name}",
            seen=f"none of {', '.join(meaning.inputs)} is partitioned by {', '.join(own)}",
            why="it could not be told which partitions there are, nor which of them changed",
            remedy="store it as full, or read a table that is partitioned so",
        )
