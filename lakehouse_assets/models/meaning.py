"""What a model means: for its rows, and for each of its columns, the SQL that decides them, and its fingerprint.

The part of the query that decides a column is the query asked for that column alone: what it does not need falls
away, and what decides which rows there are stays. The part that decides the rows is the query asked for no column.
A part's fingerprint covers its canonical SQL and the fingerprints of exactly those parts of its inputs that it reads.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from sqlglot import exp
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.pushdown_projections import pushdown_projections
from sqlglot.optimizer.scope import traverse_scope

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.hashing import fingerprint, json_fingerprint
from lakehouse_assets.models.header import Header
from lakehouse_assets.models.model import DIALECT, Model
from lakehouse_assets.models.names import (
    check_audited_numbers,
    check_names,
    check_numbers,
    check_roles,
    check_tables,
    check_time,
)
from lakehouse_assets.models.qualified import qualified
from lakehouse_assets.plan.sql_lineage import analyze

ROWS = ""
"""Stands in the place of a column's name for which rows there are."""

Read = tuple[str, str]
"""Table and column that a part reads; `ROWS` for the table's rows."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """What decides a column, or the rows: its own SQL, what that reads, and the fingerprint of both."""

    own: str
    reads: frozenset[Read]
    version: str


@dataclass(frozen=True, kw_only=True)
class Source:
    """A table as its readers see it: fingerprint and type by column; `ROWS` has the fingerprint of its rows."""

    versions: Mapping[str, str]
    types: Mapping[str, str]
    metadata: str = ""
    sensitive: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    """Columns whose text is that of a number."""


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """A model read in the light of its inputs. `columns` are in the order of the query."""

    header: Header
    text: str = field(repr=False)
    """The file as it was written."""
    inputs: tuple[str, ...]
    sql: str
    """The query with every name qualified and every star spelled out."""
    rows: Part
    columns: Mapping[str, Part]
    types: Mapping[str, str]
    parent_metadata: str
    restated: str = ""
    """Set where the same query is built again into a table of its own; then it is another version to all readers."""
    sensitive: frozenset[str] = frozenset()
    """Columns that hold what is sensitive: by the header's word, else where they are computed from what is."""
    numbers: frozenset[str] = frozenset()
    """Columns whose text is that of a number, passed on as it is."""

    @property
    def name(self) -> str:
        return self.header.name

    @property
    def own_data(self) -> str:
        """Fingerprint of what this model says itself of its rows."""
        return fingerprint([json_fingerprint(self.header.data), self.rows.own, *_flat(self.columns, "own")])

    @property
    def data(self) -> str:
        """Fingerprint of all that decides its rows, its inputs' parts included: its version."""
        own = [json_fingerprint(self.header.data), self.rows.version, *_flat(self.columns, "version")]
        return fingerprint([*own, self.restated] if self.restated else own)

    @property
    def metadata(self) -> str:
        """Fingerprint of what it says beside that, the order of its columns included."""
        return json_fingerprint([self.header.metadata, list(self.columns)])

    @property
    def table(self) -> str:
        """The table that holds this version; a view has none."""
        return "" if self.header.materialization == "view" else f"{self.name}__{self.data}"

    @property
    def reads(self) -> frozenset[Read]:
        """Every column that it reads of its inputs."""
        return self.rows.reads.union(*(part.reads for part in self.columns.values()))

    @property
    def as_source(self) -> Source:
        said = {name: column.type for name, column in self.header.columns.items() if column.type}
        versions = {
            name: fingerprint([part.version, said[name]]) if name in said else part.version
            for name, part in self.columns.items()
        }
        versions[ROWS] = self.rows.version
        if self.restated:
            versions = {name: fingerprint([version, self.restated]) for name, version in versions.items()}
        metadata = fingerprint([self.metadata, self.parent_metadata])
        return Source(
            versions=MappingProxyType(versions),
            types=self.types,
            metadata=metadata,
            sensitive=self.sensitive,
            numbers=self.numbers,
        )


def table_source(contract: TableContract) -> Source:
    """A table that is no model: its columns are what its contract says, whoever makes them.

    The case of names says nothing in a query, so a source's `PassengerId` is `passengerid` here, as in the query.
    """
    known = {each.name.lower(): each for each in contract.stored_columns}
    versions = {name: fingerprint([contract.name, each.name, each.type]) for name, each in known.items()}
    return Source(
        versions=MappingProxyType(versions | {ROWS: fingerprint([contract.name])}),
        types={name: each.type for name, each in known.items()},
        sensitive=frozenset(name.lower() for name in contract.sensitive_columns),
        numbers=frozenset(name.lower() for name in contract.number_columns),
    )


def read_meaning(model: Model, sources: Mapping[str, Source], *, restated: str = "") -> Meaning:
    """What the model means over these sources; a name that they don't have is refused with the nearest."""
    check_tables(model, sources)
    schema = {name: dict(sources[name].types) for name in model.inputs}
    query = qualified(model, schema)
    check_names(model, query, {name: tuple(sources[name].types) for name in model.inputs})
    names = tuple(query.named_selects)
    check_roles(model, names)
    columns = {name: _part(query, name, sources) for name in names}
    sql = query.sql(DIALECT, comments=False)
    types = _types(model.header, query, schema)
    check_time(model, types)
    numbers = check_numbers(model, query, {name: sources[name].numbers for name in model.inputs})
    check_audited_numbers(model, types, numbers)
    return Meaning(
        header=model.header,
        text=model.text,
        inputs=tuple(sorted(model.inputs)),
        sql=sql,
        rows=_part(query, ROWS, sources),
        columns=MappingProxyType(columns),
        types=MappingProxyType(types),
        parent_metadata=fingerprint(sources[name].metadata for name in sorted(model.inputs)),
        restated=restated,
        sensitive=_sensitive(model, sql, {name: sources[name] for name in model.inputs}),
        numbers=numbers,
    )


def _sensitive(model: Model, sql: str, sources: Mapping[str, Source]) -> frozenset[str]:
    said = {name: column.sensitive for name, column in model.header.columns.items() if column.sensitive is not None}
    found = {name for name, is_sensitive in said.items() if is_sensitive}
    if any(each.sensitive for each in sources.values()):
        tables = {name: each.types for name, each in sources.items()}
        lineage = analyze(sql, tables, dialect=DIALECT, subject=f"model {model.name}").lineage
        found |= {
            column
            for column, origins in lineage.items()
            if column not in said and any(each.column in sources[each.relation].sensitive for each in origins)
        }
    return frozenset(found)


def _part(query: exp.Query, column: str, sources: Mapping[str, Source]) -> Part:
    asked = exp.column(column, "asked", quoted=True) if column else exp.Literal.number(1).as_("one")
    alone = pushdown_projections(exp.select(asked).from_(query.copy().subquery("asked")))
    reads = _reads(alone)
    own = fingerprint([alone.sql(DIALECT, comments=False)])
    versions = [text for table, name in sorted(reads) for text in (table, name, sources[table].versions[name])]
    return Part(own=own, reads=reads, version=fingerprint([own, *versions]))


def _reads(query: exp.Expr) -> frozenset[Read]:
    found: set[Read] = set()
    for scope in traverse_scope(query):
        tables = {name: source.name for name, source in scope.sources.items() if isinstance(source, exp.Table)}
        found |= {(table, ROWS) for table in tables.values()}
        found |= {(tables[each.table], each.name) for each in scope.columns if each.table in tables}
    return frozenset(found)


def _types(header: Header, query: exp.Query, schema: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Types as far as the query tells them; declared ones win. Unknown ones are left to the engine that runs it."""
    annotated = annotate_types(query.copy(), schema={k: dict(v) for k, v in schema.items()}, dialect=DIALECT)
    types: dict[str, str] = {}
    for name, each in zip(query.named_selects, annotated.selects, strict=True):
        said = header.columns[name].type if name in header.columns else None
        known = each.type.sql(DIALECT).lower() if each.type is not None else "unknown"
        types[name] = said or known
    return types


def _flat(columns: Mapping[str, Part], attribute: str) -> list[str]:
    """Names and fingerprints in the order of names: the order of columns decides no row."""
    return [text for name in sorted(columns) for text in (name, getattr(columns[name], attribute))]
