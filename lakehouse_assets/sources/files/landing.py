"""Files and pages into their tables: what is new or changed, some at a time, and then on record."""

import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from lakehouse_assets.contracts.files import SOURCE, SOURCE_ROW, FileIngest, HttpIngest, Landed, landed_contract
from lakehouse_assets.contracts.landed_sources import LANDED_SOURCES
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.table import ColumnType, TableContract
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.core.errors import SourceError
from lakehouse_assets.core.hashing import fingerprint
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.report import WriteReport
from lakehouse_assets.lake.rows import type_name
from lakehouse_assets.lake.table_facts import table_facts
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.lake.upsert import UpsertService
from lakehouse_assets.plan.code_version import code_version
from lakehouse_assets.plan.staleness import MaterializationKey
from lakehouse_assets.sources.files.formats import read_file, typed
from lakehouse_assets.sources.files.nested import flat_table
from lakehouse_assets.sources.files.pages import pages
from lakehouse_assets.sources.files.storable import in_types
from lakehouse_assets.sources.files.waiting import known_sources, last_page, looked_at

ROWS_AT_ONCE = 100_000
"""Rows that are held and committed together; a file is never parted."""


@dataclass(frozen=True, kw_only=True)
class LandedReport:
    """What became of the files or pages, by number, and of those that are bad by name, whenever they were read."""

    name: str
    landed: int
    unchanged: int
    bad: tuple[str, ...]
    rows_inserted: int
    rows_updated: int
    rows_deleted: int


@dataclass(frozen=True, kw_only=True)
class _Item:
    """One file or page as it was read."""

    source: str
    content: str
    rows: pa.Table | None
    problem: str | None = None
    next_page: str | None = None


def land_files(lake: Lake, service: UpsertService, files: FileIngest, *, run_id: str = "") -> LandedReport:
    known = known_sources(lake, files)
    unchanged = 0
    still_bad: list[str] = []

    def items() -> Iterator[_Item]:
        nonlocal unchanged
        for path, content in looked_at(files, known):
            if content is None:
                held = known[str(path)]
                if held["status"] == "bad":
                    still_bad.append(f"{path}: {held['problem']}")
                else:
                    unchanged += 1
                continue
            try:
                yield _Item(source=str(path), content=content, rows=read_file(files, path))
            except SourceError as error:
                yield _Item(source=str(path), content=content, rows=None, problem=error.seen)

    done = _land(lake, service, files, items(), run_id or uuid.uuid4().hex, lambda: unchanged)
    return replace(done, bad=(*still_bad, *done.bad))


def land_pages(lake: Lake, service: UpsertService, http: HttpIngest, *, run_id: str = "") -> LandedReport:
    """Go on with the last page that is on record."""
    known = known_sources(lake, http)
    setting = fingerprint([http.model_dump_json(exclude={"description", "headers"})])
    unchanged = 0

    def items() -> Iterator[_Item]:
        nonlocal unchanged
        for page in pages(http, begin=last_page(known)):
            content = fingerprint([setting, page.body])
            if known.get(page.address, {}).get("content") == content:
                unchanged += 1
                continue
            rows = typed(flat_table(page.rows), http.columns, subject=page.address)
            yield _Item(source=page.address, content=content, rows=rows, next_page=page.next_page)

    return _land(lake, service, http, items(), run_id or uuid.uuid4().hex, lambda: unchanged)


def stored_landed_contract(lake: Lake, landed: Landed) -> TableContract | None:
    """The contract of the table as the lake has it; None if it was never made."""
    probe = landed_contract(landed, {})
    if not lake.exists(probe):
        return None
    types: dict[str, Any] = dict(table_facts(lake.open(probe), probe).columns)
    return landed_contract(landed, types)


def _land(
    lake: Lake,
    service: UpsertService,
    landed: Landed,
    items: Iterator[_Item],
    run_id: str,
    unchanged: Callable[[], int],
) -> LandedReport:
    counts = {"inserted": 0, "updated": 0, "deleted": 0}
    bad: list[str] = []
    total = 0
    for part, held in enumerate(_parts(items)):
        types, held = _alike(lake, landed, held)
        good = [each for each in held if each.rows is not None]
        total += len(good)
        if good:
            done = _write(service, landed, types, good, f"{run_id}-{part}")
            for name in counts:
                counts[name] += getattr(done, f"rows_{name}")
        for each in held:
            if each.problem is not None:
                bad.append(f"{each.source}: {each.problem}")
                report("files", landed.name, "a file was set aside", level="warning", file=each.source)
        _record(service, landed.name, held, f"{run_id}-{part}")
    return LandedReport(
        name=landed.name,
        landed=total,
        unchanged=unchanged(),
        bad=tuple(bad),
        rows_inserted=counts["inserted"],
        rows_updated=counts["updated"],
        rows_deleted=counts["deleted"],
    )


def _parts(items: Iterator[_Item]) -> Iterator[list[_Item]]:
    """So many together as memory takes; what came before a failure is landed first."""
    waiting: list[_Item] = []
    rows = 0
    failed: SourceError | None = None
    while True:
        try:
            each = next(items)
        except StopIteration:
            break
        except SourceError as error:
            failed = error
            break
        waiting.append(each)
        rows += each.rows.num_rows if each.rows is not None else 0
        if rows >= ROWS_AT_ONCE:
            yield waiting
            waiting, rows = [], 0
    if waiting:
        yield waiting
    if failed is not None:
        raise failed


def _alike(lake: Lake, landed: Landed, items: Sequence[_Item]) -> tuple[dict[str, ColumnType], list[_Item]]:
    """The table's columns with those that the files bring, and the files in these types; one whose values do not fit
    what came before it is a bad one."""
    stored = stored_landed_contract(lake, landed)
    types: dict[str, ColumnType] = {each.name: each.type for each in stored.columns} if stored else {}
    fitting: list[_Item] = []
    for each in items:
        if each.rows is None:
            fitting.append(each)
            continue
        try:
            rows = in_types(each.rows, types)
        except ValueError as error:
            fitting.append(replace(each, rows=None, problem=str(error)))
            continue
        for field in rows.schema:
            kind: Any = type_name(field.type)
            types.setdefault(field.name, kind)
        fitting.append(replace(each, rows=rows))
    return types, fitting


def _write(
    service: UpsertService, landed: Landed, types: dict[str, ColumnType], items: Sequence[_Item], run_id: str
) -> WriteReport:
    contract = landed_contract(landed, types)
    rows = pa.concat_tables([_with_source(each) for each in items], promote_options="default")
    batch = Batch(rows=rows, keys=(_key(landed, contract, items),), owners=tuple(each.source for each in items))
    return service.write(contract, batch, {"": ()}, run_id=run_id)


def _with_source(item: _Item) -> pa.Table:
    assert item.rows is not None
    count = item.rows.num_rows
    rows = item.rows.append_column(SOURCE.name, pa.repeat(pa.scalar(item.source), count))
    return rows.append_column(SOURCE_ROW.name, pa.array(range(count), pa.int64()))


def _record(service: UpsertService, name: str, items: Sequence[_Item], run_id: str) -> None:
    rows = [
        {
            "table_name": name,
            "source": each.source,
            "content": each.content,
            "status": "bad" if each.rows is None else "landed",
            "problem": each.problem,
            "row_count": 0 if each.rows is None else each.rows.num_rows,
            "next_page": each.next_page,
            "landed_at": datetime.now(UTC),
        }
        for each in items
    ]
    table = pa.Table.from_pylist(rows, schema=arrow_schema(LANDED_SOURCES.columns))
    key = MaterializationKey(
        asset=LANDED_SOURCES.name, partition=name, cursor=run_id, code_version="", settings_hash=""
    )
    service.write(LANDED_SOURCES, Batch(rows=table, keys=(key,), owners=()), {name: ()}, run_id=run_id)


def _key(landed: Landed, contract: TableContract, items: Sequence[_Item]) -> MaterializationKey:
    return MaterializationKey(
        asset=landed.name,
        partition="",
        cursor=fingerprint([each.content for each in items]),
        code_version=code_version(read_file, parameters=[contract.version]),
        settings_hash=fingerprint([landed.model_dump_json(exclude={"description"})]),
        policy_hash=contract.policy_hash,
    )
