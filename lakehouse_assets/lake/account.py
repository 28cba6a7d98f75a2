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
from lakehouse_assets.plan.matching import belongs
from lakehouse_assets.plan.pruning import prune
from lakehouse_assets.plan.row_hash import NO_CONTENT, Content
from lakehouse_assets.plan.write_facts import TableFacts
from lakehouse_assets.plan.write_plan import WritePlan


@dataclass(frozen=True, kw_only=True)
class Account:
    """What the entries are worked out from: what each partition held, found out before anything is done."""

    job: Job
    contract: TableContract
    """With the columns that the batch brought along."""
    before: Mapping[str, Content]

    @staticmethod
    def of(
        lake: Lake, job: Job, contract: TableContract, plan: WritePlan, table: DeltaTable, facts: TableFacts
    ) -> "Account":
        held = {
            name: scope
            for name, scope in job.partitions.items()
            if not _is_shared(contract, name)
            and plan.action != "replace"
            and prune(facts.files, (scope,) if scope else (), None).touched
        }
        known = Ledger(lake).newest(contract, table, held) if held else {}
        before = {
            name: current_content(table, contract, scope, known.get((contract.name, name)))
            for name, scope in held.items()
        }
        return Account(job=job, contract=contract, before=before)

    def entries(self, outcome: Outcome | None) -> tuple[Entry, ...]:
        """One entry a partition; without an outcome, contents are not known yet."""
        made: list[Entry] = []
        for key in self.job.batch.keys:
            version: str | None = None
            if _is_shared(self.contract, key.partition):
                # Rows are shared; what the partition uses of them is decided by what it was made from.
                version = fingerprint([key.cursor, key.settings_hash, key.input_versions])
            elif outcome is not None:
                version = self._after(key.partition, outcome).version
            made.append(replace(new_entry(key, run_id=self.job.run_id), data_version=version))
        return tuple(made)

    def note(self, outcome: Outcome | None) -> str:
        return note(self.entries(outcome))

    def _after(self, partition: str, outcome: Outcome) -> Content:
        content = self.before.get(partition, NO_CONTENT)
        for values, change in outcome.changes.items():
            if belongs(self.contract, values, self.job.partitions[partition]):
                content = content.plus(change.added).minus(change.removed)
        return content


def _is_shared(contract: TableContract, partition: str) -> bool:
    """Whether partitions have their rows in common: the table has none, and yet they have names."""
    return not contract.partition_by and partition != ""
