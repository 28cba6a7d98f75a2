"""The ledger entries of a write: what each of its partitions was made from, and what it holds after it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from deltalake import DeltaTable

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.hashing import fingerprint
from lakehouse_assets.lake.contents import current_content
from lakehouse_assets.lake.job import Job
from lakehouse_assets.lake.ledger import Entry, EntryKey, Ledger, new_entry, note
from lakehouse_assets.lake.outcome import Outcome
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.matching import belongs
from lakehouse_assets.plan.pruning import prune
from lakehouse_assets.plan.row_hash import Content
from lakehouse_assets.plan.scope import Scope
from lakehouse_assets.plan.write_plan import TableFacts


@dataclass(frozen=True, kw_only=True)
class Account:
    """What the entries are worked out from: the table before the write, and what the ledger knew of it."""

    job: Job
    contract: TableContract
    """With the columns that the batch brought along."""
    table: DeltaTable
    facts: TableFacts
    previous: Mapping[EntryKey, Entry]

    @staticmethod
    def of(lake: Lake, job: Job, contract: TableContract, table: DeltaTable, facts: TableFacts) -> "Account":
        held = [
            name
            for name, scope in job.partitions.items()
            if contract.partition_by and prune(facts.files, (scope,), None).touched
        ]
        previous = Ledger(lake).newest(contract, table, held) if held else {}
        return Account(job=job, contract=contract, table=table, facts=facts, previous=previous)

    def entries(self, outcome: Outcome | None) -> tuple[Entry, ...]:
        """One entry a partition; without an outcome, contents are not known yet."""
        made: list[Entry] = []
        for key in self.job.batch.keys:
            version: str | None = None
            if not self.contract.partition_by:
                # Rows are shared; what the partition uses of them is decided by what it was made from.
                version = fingerprint([key.cursor, key.settings_hash, key.input_versions])
            elif outcome is not None:
                version = self._after(self.job.partitions[key.partition], (key.asset, key.partition), outcome).version
            made.append(replace(new_entry(key, run_id=self.job.run_id), data_version=version))
        return tuple(made)

    def note(self, outcome: Outcome | None) -> str:
        return note(self.entries(outcome))

    def _after(self, scope: Scope, key: EntryKey, outcome: Outcome) -> Content:
        content = Content()
        if not outcome.replaces:
            content = current_content(self.table, self.contract, self.facts, scope, self.previous.get(key))
        for values, change in outcome.changes.items():
            if belongs(self.contract, values, scope):
                content = content.plus(change.added).minus(change.removed)
        return content
