"""What a write did, for people, for Dagster and for the table `writes`."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.lake.job import Job
from lakehouse_assets.lake.ledger import Entry
from lakehouse_assets.lake.outcome import Outcome, OwnerChange
from lakehouse_assets.lake.tables import CommitFiles
from lakehouse_assets.plan.write_plan import WritePlan

OWNERS_TOLD = 500
"""Of so many files a write tells the names: a row of `writes` stays small, whatever was renamed."""


PHASES = ("stage", "plan", "commit", "ledger")
"""Of a write, one after the other; what else is told is part of one of them."""

_NOT_KEPT = ("entries", "changed", "owners_changed")
STATEMENT_TOLD = 2_000
"""Characters of a statement that are kept: it names every owner that it is about."""


@dataclass(frozen=True, kw_only=True)
class RowCounts:
    """Rows of a partition by operation; what a replacement deleted is known for all of its partitions together."""

    inserted: int = 0
    updated: int = 0
    deleted: int | None = 0

    @property
    def in_all(self) -> int:
        return self.inserted + self.updated + (self.deleted or 0)


@dataclass(frozen=True, kw_only=True)
class WriteReport:
    write_key: str
    asset: str
    run_id: str
    partitions: tuple[str, ...]
    strategy: str
    action: str
    executor: str
    executor_reason: str
    owners: str | None
    owners_made: int | None
    rows_inserted: int
    rows_updated: int
    rows_deleted: int
    rows_unchanged: int
    rows_quarantined: int
    files_added: int
    files_removed: int
    bytes_added: int
    files_total: int
    files_touched: int
    files_unbounded: int
    version_before: int
    version_after: int
    seconds: dict[str, float]
    entries: tuple[Entry, ...]
    written_at: datetime
    engine: str = ""
    """The engine that wrote, and its version, as the commit names it."""
    statement: str = ""
    """What ran: SQL by Spark, else the call of the engine; empty where no row differed."""
    changed: Mapping[str, RowCounts] = field(default_factory=dict[str, RowCounts])
    """By partition the rows by operation."""
    owners_changed: tuple[OwnerChange, ...] = ()
    """The owners with the most rows added and removed; an update is both."""

    @property
    def committed(self) -> bool:
        """Whether there is a commit of it; none if it was wanted only if it changed something, and did not."""
        return bool(self.entries) or self.version_after > self.version_before

    @property
    def rows_changed(self) -> int:
        return self.rows_inserted + self.rows_updated + self.rows_deleted

    @property
    def seconds_in_all(self) -> float:
        return round(sum(self.seconds.get(name, 0.0) for name in PHASES), 3)

    @property
    def data_versions(self) -> dict[str, str | None]:
        """Content by partition."""
        return {entry.partition: entry.data_version for entry in self.entries}

    def as_row(self) -> dict[str, Any]:
        """A row of `writes`."""
        row = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in _NOT_KEPT}
        keys = [
            {**asdict(entry.key), "data_version": entry.data_version, "table_version": entry.table_version}
            for entry in self.entries
        ]
        told = {
            "partitions": list(self.partitions),
            "seconds": json_text(self.seconds),
            "keys": json_text(keys),
            "engine": self.engine or None,
            "statement": self.statement[:STATEMENT_TOLD] or None,
        }
        return {**row, **told}


def owners_of(job: Job) -> dict[str, Any]:
    """Which files' rows a write replaced, and why; nothing where it replaced all."""
    owners, reasons = job.request.owners, job.batch.reasons
    if owners is None:
        return {"owners": None, "owners_made": None}
    told = {owner: reasons.get(owner, "") for owner in owners[:OWNERS_TOLD]}
    return {"owners": json_text(told), "owners_made": len(owners)}


def writer_of(files: CommitFiles) -> str:
    """Who wrote a commit, by what it says itself."""
    return "delta-rs" if files.engine.startswith("delta-rs") else "spark"


def _executor(plan: WritePlan, outcome: Outcome, files: CommitFiles) -> tuple[str, str]:
    """Who wrote, by the commit, and why it was that one: a plan can come to nothing."""
    if outcome.version is None:
        return "none", "no row differs"
    writer = writer_of(files)
    if writer == plan.executor:
        return writer, plan.executor_reason
    return writer, "no row differs; the log entry says so, and has no files"


def report_of(
    job: Job,
    plan: WritePlan,
    outcome: Outcome,
    files: CommitFiles,
    entries: tuple[Entry, ...],
    *,
    before: int,
    quarantined: int,
) -> WriteReport:
    """What a write did, its seconds apart, which are known when it has ended."""
    executor, reason = _executor(plan, outcome, files)
    return WriteReport(
        write_key=job.request.key,
        asset=job.contract.name,
        run_id=job.run_id,
        partitions=tuple(job.partitions),
        strategy=job.request.strategy,
        action=plan.action,
        executor=executor,
        executor_reason=reason,
        **owners_of(job),
        rows_inserted=outcome.inserted,
        rows_updated=outcome.updated,
        rows_deleted=outcome.deleted,
        rows_unchanged=outcome.unchanged,
        rows_quarantined=quarantined,
        files_added=files.added,
        files_removed=files.removed,
        bytes_added=files.bytes_added,
        files_total=plan.pruning.total,
        files_touched=plan.pruning.touched,
        files_unbounded=plan.pruning.unbounded,
        version_before=before,
        version_after=before if outcome.version is None else outcome.version,
        seconds={},
        entries=entries,
        written_at=datetime.now(UTC),
        engine=files.engine,
        statement=outcome.statement,
        changed={
            str(values[0]): RowCounts(
                inserted=each.added.rows - each.updated,
                updated=each.updated,
                deleted=None if outcome.replaces else each.removed.rows - each.updated,
            )
            for values, each in outcome.changes.items()
            if values
        },
        owners_changed=outcome.owners,
    )
