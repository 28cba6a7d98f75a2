"""The ledger entries of a write: what each of its partitions was made from, and what it holds after it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from deltalake import DeltaTable

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.hashing import fingerprint
from lakehouse_assets.lake.contents import current_content
from lakehouse_assets.lake.job import Job
from lakehouse_assets.lake.ledger import Entry, Ledger, new_entry, note
from lakehouse_assets.lake.outcome import Outcome
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.matching import Matching
from lakehouse_assets.plan.row_hash import NO_CONTENT, Content
from lakehouse_assets.plan.scope import Scope
from lakehouse_assets.plan.write_facts import TableFacts
from lakehouse_assets.plan.write_plan import WritePlan


@dataclass(frozen=True, kw_only=True)
class Account:
    """What the entries are worked out from: what each partition held, found out before anything is done."""

    job: Job
    contract: TableContract
    """With the columns that the batch brought along."""
    before: Mapping[str, Content]

    @property
    def is_counted(self) -> bool:
        """Whether any entry tells what its partition holds."""
        return any(not _is_shared(self.contract, key.partition) for key in self.job.batch.keys)

    @staticmethod
    def of(
        lake: Lake, job: Job, contract: TableContract, plan: WritePlan, table: DeltaTable, facts: TableFacts
    ) -> "Account":
        held = {} if plan.action == "replace" else _with_files(contract, job.partitions, facts)
        known = Ledger(lake).newest(contract, table, held) if held else {}
        before = {
            name: current_content(table, contract, scope, known.get((contract.name, name)))
            for name, scope in held.items()
        }
        return Account(job=job, contract=contract, before=before)

    def entries(self, outcome: Outcome | None) -> tuple[Entry, ...]:
        """One entry a partition; without an outcome, contents are not known yet."""
        made: list[Entry] = []
        after = {} if outcome is None else self._after(outcome)
        for key in self.job.batch.keys:
            version: str | None = None
            if _is_shared(self.contract, key.partition):
                # Rows are shared; what the partition uses of them is decided by what it was made from.
                version = fingerprint([key.cursor, key.settings_hash, key.input_versions])
            elif outcome is not None:
                version = after[key.partition].version
            made.append(replace(new_entry(key, run_id=self.job.run_id), data_version=version))
        return tuple(made)

    def note(self, outcome: Outcome | None) -> str:
        return note(self.entries(outcome))

    def _after(self, outcome: Outcome) -> dict[str, Content]:
        """By partition what it holds once the changes are made."""
        names = list(self.job.partitions)
        contents = {name: self.before.get(name, NO_CONTENT) for name in names}
        matching = Matching(self.contract, list(self.job.partitions.values()))
        for values, change in outcome.changes.items():
            for number in matching.of(values):
                name = names[number]
                contents[name] = contents[name].plus(change.added).minus(change.removed)
        return contents


def _with_files(contract: TableContract, partitions: Mapping[str, Scope], facts: TableFacts) -> dict[str, Scope]:
    """The partitions that the table has files of; those that share their rows don't count."""
    own = {name: scope for name, scope in partitions.items() if not _is_shared(contract, name)}
    matching = Matching(contract, list(own.values()))
    places = {tuple(file.partition[column] for column in contract.partition_by) for file in facts.files}
    found = {number for place in places for number in matching.of(place)}
    return {name: scope for number, (name, scope) in enumerate(own.items()) if number in found}


def _is_shared(contract: TableContract, partition: str) -> bool:
    """Whether partitions have their rows in common: the table has none, and yet they have names."""
    return not contract.partition_by and partition != ""
