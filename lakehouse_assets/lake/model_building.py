"""Builds what a plan says, model by model, and tells what came of each.

Invariant: a model is built from the tables as the plan saw them, and from models as this run left them. A model that
fails stops those that follow from it, and no others. What was built stays, whatever happens later: the next plan
finds it and does not build it again.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.model_engine import EngineName, Question, answer, engine_for, is_sensitive
from lakehouse_assets.lake.model_facts import built_tables
from lakehouse_assets.lake.model_inputs import Relation, Relations, Stored, Viewed, needed
from lakehouse_assets.lake.model_rows import arrow_schema_of, fitted, part_scope, part_value
from lakehouse_assets.lake.model_tables import model_contract, row_types, stored_contract
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.models.facts import Contents, whole
from lakehouse_assets.models.intervals import merged
from lakehouse_assets.models.locality import why_apart
from lakehouse_assets.models.meaning import Meaning
from lakehouse_assets.models.parts import PartKey
from lakehouse_assets.models.planning import Plan, Step
from lakehouse_assets.models.project import shares_partitions
from lakehouse_assets.plan.engine import EngineChoice
from lakehouse_assets.plan.staleness import MaterializationKey

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, kw_only=True)
class Workshop:
    """What building needs: the lake, the tables that are no models, and who computes."""

    lake: Lake
    tables: Mapping[str, TableContract]
    spark: "Callable[[], SparkSession]"
    choice: EngineChoice


@dataclass(frozen=True, kw_only=True)
class Made:
    """The rows of one model, ready to be written, and who computed them."""

    step: Step
    meaning: Meaning
    contract: TableContract
    batches: Batches
    engine: EngineName
    engine_reason: str


@dataclass(kw_only=True)
class Builder:
    """Carries out the steps of one plan in their order."""

    workshop: Workshop
    plan: Plan
    relations: dict[str, Relation] = field(default_factory=dict[str, Relation])

    def __post_init__(self) -> None:
        for name, member in self.plan.sources.items():
            if name in self.workshop.tables:
                self.relations[name] = Stored(
                    contract=self.workshop.tables[name], version=member.table_version, apart=member.apart
                )

    def leave(self, step: Step) -> None:
        """Take a model that does not run as the plan saw it."""
        assert step.meaning is not None
        if step.action == "view":
            self.relations[step.name] = Viewed(meaning=step.meaning)
            return
        contract = stored_contract(self.workshop.lake, step.meaning)
        assert contract is not None
        self._known(step.name, contract, step.table_version)

    def is_cut_off(self, step: Step) -> bool:
        """Whether the inputs came out as they were when the model was made: then so would its rows."""
        assert step.meaning is not None
        if step.action != "refresh":
            return False
        built = built_tables(self.workshop.lake, [step.meaning.table])[step.meaning.table].parts
        for part, key in step.parts.items():
            inputs = self._inputs(step, part, key)
            if part not in built or None in inputs.values() or dict(built[part].inputs) != inputs:
                return False
        return True

    def build(self, step: Step) -> Generator[Made, None, None]:
        """The model's rows; they are written before this goes on."""
        meaning = step.meaning
        assert meaning is not None
        lake, tables = self.workshop.lake, self.workshop.tables
        relations = needed(self.relations, meaning.inputs, tables)
        subject = f"model {step.name}"
        engine, reason = engine_for(subject, meaning.sql, relations, self.workshop.choice)
        groups, apart = self._together(step, meaning)
        with ExitStack() as scopes:
            found = [
                scopes.enter_context(
                    answer(lake, self._question(step, meaning, relations, each), engine, self.workshop.spark)
                )
                for each in groups
            ]
            contract = stored_contract(lake, meaning) or model_contract(
                meaning, row_types(meaning, arrow_schema_of(found[0], meaning))
            )
            if not step.parts and not step.copied:  # its inputs have no partition, or its time has not begun
                lake.ensure(contract)
                self._known(step.name, contract, None)
                return
            partitions = {part: part_scope(contract, meaning, part) for part in (*step.parts, *step.copied)}
            batches = [
                replace(
                    self._batch(step, contract, each, fitted(rows, contract, meaning)),
                    subject=subject,
                    quiet=is_sensitive(relations),
                )
                for each, rows in zip(groups, found, strict=True)
            ]
            if step.copied:
                before = scopes.enter_context(answer(lake, self._earlier(step), engine, self.workshop.spark))
                batches.append(self._copied(step, contract, fitted(before, contract, meaning)))
            given = Batches(batches=tuple(batches), contract=contract, partitions=partitions)
            said = f"{reason}; partition by partition, because of {apart}" if apart else reason
            yield Made(step=step, meaning=meaning, contract=contract, batches=given, engine=engine, engine_reason=said)
        self._known(step.name, contract, None)

    def _known(self, name: str, contract: TableContract, version: int | None) -> None:
        now = self.workshop.lake.open(contract).version() if version is None else version
        self.relations[name] = Stored(contract=contract, version=now)

    def _together(self, step: Step, meaning: Meaning) -> tuple[list[tuple[str, ...]], str | None]:
        """Parts that one question is asked for; and why not for all of them, where it would mix their rows."""
        parts = tuple(sorted(step.parts))
        if meaning.header.materialization != "by_partition" or len(parts) < 2:
            return [parts], None
        (place,) = meaning.header.partition_by
        apart = why_apart(meaning.sql, place, self._shared(meaning))
        return [(part,) for part in parts] if apart else [parts], apart

    def _shared(self, meaning: Meaning) -> list[str]:
        """The inputs that are partitioned as the model is."""
        models = {name: each.meaning for name, each in self._models().items() if each.meaning is not None}
        return [name for name in meaning.inputs if shares_partitions(meaning, name, models, self.workshop.tables)]

    def _question(self, step: Step, meaning: Meaning, relations: Relations, parts: Sequence[str]) -> Question:
        header = meaning.header
        subject = f"model {step.name}"
        if header.time_column is not None:
            spans = merged(header.interval, parts)
            return Question(subject=subject, sql=meaning.sql, relations=relations, days=(header.time_column, spans))
        if header.partition_by:
            shared = self._shared(meaning)
            (place,) = header.partition_by
            kind = relations[shared[0]].types[place]
            values = [part_value(kind, part) for part in parts]
            return Question(
                subject=subject,
                sql=meaning.sql,
                relations=relations,
                partitions=(place, values),
                partitioned=frozenset(shared),
            )
        return Question(subject=subject, sql=meaning.sql, relations=relations)

    def _models(self) -> dict[str, Step]:
        return {step.name: step for step in self.plan.steps}

    def _earlier(self, step: Step) -> Question:
        """The rows to be taken over from the version before."""
        assert step.meaning is not None
        header = step.meaning.header
        member = self.plan.environment.members[step.name]
        contract = stored_contract(self.workshop.lake, step.meaning, table=member.table)
        assert contract is not None
        assert header.time_column is not None
        return Question(
            subject=f"model {step.name}",
            sql="SELECT * FROM `before`",
            relations={"before": Stored(contract=contract, version=member.table_version)},
            days=(header.time_column, merged(header.interval, step.copied)),
        )

    def _batch(self, step: Step, contract: TableContract, parts: Sequence[str], rows: "pa.Table | DataFrame") -> Batch:
        meaning = step.meaning
        assert meaning is not None
        keys = tuple(
            _key(contract, meaning, part, step.parts[part].sources, self._inputs(step, part, step.parts[part]))
            for part in parts
        )
        return Batch(rows=rows, keys=keys, owners=() if meaning.header.materialization == "by_key" else None)

    def _copied(self, step: Step, contract: TableContract, rows: "pa.Table | DataFrame") -> Batch:
        assert step.meaning is not None
        table = self.plan.environment.members[step.name].table
        before = built_tables(self.workshop.lake, [table])[table].parts
        keys = tuple(
            _key(contract, step.meaning, part, before[part].sources, before[part].inputs) for part in step.copied
        )
        return Batch(rows=rows, keys=keys)

    def _inputs(self, step: Step, part: str, key: PartKey) -> dict[str, str | None]:
        """What the inputs hold, now that those before it are built; None for a view over such."""
        assert step.meaning is not None
        unknown = [name for name, content in key.inputs.items() if content is None]
        held = dict(key.inputs)
        steps = self._models()
        for name in unknown:
            held[name] = self._content(steps, step.meaning, name, part)
        return held

    def _content(self, steps: Mapping[str, Step], meaning: Meaning, name: str, part: str) -> str | None:
        other = steps[name].meaning
        assert other is not None
        if other.header.materialization == "view":
            return None
        parts = built_tables(self.workshop.lake, [other.table])[other.table].parts
        if meaning.header.partition_by and other.header.partition_by == meaning.header.partition_by:
            return parts[part].content if part in parts else ""
        return whole({each: built.content for each, built in parts.items()})


def _key(contract: TableContract, meaning: Meaning, part: str, sources: str, inputs: Contents) -> MaterializationKey:
    return MaterializationKey(
        asset=contract.name,
        partition=part,
        cursor=sources,
        code_version=meaning.data,
        settings_hash="",
        policy_hash=contract.policy_hash,
        input_versions=json_text(dict(inputs)),
    )
