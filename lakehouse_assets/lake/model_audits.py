"""Audits asked of models: each a query that must give no rows.

Invariant: an environment shows only what its audits passed. So an audit is asked of every state of a model that the
environment does not show yet, whoever built it and however often it was asked before. What the environment shows has
passed, and is asked again only if the audit, or a table that it reads, is another one by now.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

import pyarrow as pa

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.lake.model_building import Builder
from lakehouse_assets.lake.model_engine import Question, answer, engine_for
from lakehouse_assets.lake.model_inputs import Relation, Relations, Stored, Viewed, needed
from lakehouse_assets.models.audits import THIS, Audit
from lakehouse_assets.models.meaning import Meaning
from lakehouse_assets.models.planning import Step

_EXAMPLES = 3
REDACTED = "(redacted)"


@dataclass(frozen=True, kw_only=True)
class AuditResult:
    """How many rows broke a rule, and the first of them, without what is sensitive."""

    model: str
    audit: str
    rows: int
    examples: tuple[dict[str, Any], ...]

    @property
    def passed(self) -> bool:
        return self.rows == 0


@dataclass(kw_only=True)
class Auditor:
    """Asks the audits of one plan's models, over the relations that its builder knows by then."""

    builder: Builder
    waiting: list[tuple[Step, Audit]] = field(default_factory=list[tuple[Step, Audit]])
    """Audits that read a model which comes later in the plan."""

    def ask(self, step: Step) -> list[AuditResult]:
        """The results of the audits that are due of a model, but for those that have to wait."""
        assert step.meaning is not None
        later = {each.name for each in self.builder.plan.steps if each.meaning} - set(self.builder.relations)
        waits = [audit for audit in step.meaning.header.audits if later.intersection(audit.reads)]
        self.waiting += [(step, audit) for audit in waits]
        return list(self._results(step, [audit for audit in step.meaning.header.audits if audit not in waits]))

    def ask_last(self, step: Step, audit: Audit) -> list[AuditResult]:
        """The result of one that had to wait; none if it reads a model that could not be made."""
        there = all(each in self.builder.relations or each not in self._steps for each in audit.reads)
        return list(self._results(step, [audit])) if there else []

    def _results(self, step: Step, audits: Sequence[Audit]) -> Iterator[AuditResult]:
        assert step.meaning is not None
        this = self.builder.relations[step.name]
        for audit in audits:
            read = self._read(step, audit)
            if not self._has_passed(step, {**read, step.name: this}):
                yield self._result(step.meaning, audit, {**read, THIS: this})

    def _read(self, step: Step, audit: Audit) -> Relations:
        """What the audit reads beside the model: other models as the environment is to show them."""
        shown: dict[str, Relation] = {}
        for name, relation in self.builder.relations.items():
            other = self._steps.get(name)
            if other is not None and not other.chosen and isinstance(relation, Stored):
                relation = replace(relation, version=self.builder.plan.environment.members[name].table_version)
            shown[name] = relation
        this, tables = self.builder.relations[step.name], self.builder.workshop.tables
        unknown = next((each for each in audit.reads if each not in shown and each not in tables), None)
        if unknown is not None:
            near = get_close_matches(unknown, [*shown, *tables], n=1)
            raise BadInputError(
                subject=f"audit {audit.label} of {step.name}",
                seen=f"neither the lake nor the environment has a table {unknown!r}",
                why="it could not be asked, so the rows are not shown",
                remedy=f"did you mean {near[0]!r}?" if near else "apply that model as well, or mend the audit",
            )
        return needed(shown, (*audit.reads, *(this.meaning.inputs if isinstance(this, Viewed) else ())), tables)

    def _has_passed(self, step: Step, judged: Relations) -> bool:
        """Whether the environment shows all of it already, as the same audit has judged it."""
        members = self.builder.plan.environment.members
        if "audits" in step.change.details:
            return False
        for name, relation in judged.items():
            member = members.get(name)
            match relation:
                case Viewed(meaning=meaning) if member is None or member.version != meaning.data:
                    return False
                case Stored(version=None) if member is None and name != step.name:
                    continue  # a table that nothing has made yet
                case Stored(contract=contract, version=version):
                    if member is None or (member.table, member.table_version) != (contract.name, version):
                        return False
                case _:
                    continue
        return True

    def _result(self, meaning: Meaning, audit: Audit, relations: Relations) -> AuditResult:
        workshop, subject = self.builder.workshop, f"audit {audit.label} of {meaning.name}"
        engine, _ = engine_for(subject, audit.query, relations, workshop.choice)
        question = Question(subject=subject, sql=audit.query, relations=relations)
        with answer(workshop.lake, question, engine, workshop.spark) as rows:
            count, first = _first(rows)
        shown = [{name: REDACTED if name in meaning.sensitive else each for name, each in row.items()} for row in first]
        return AuditResult(model=meaning.name, audit=audit.label, rows=count, examples=tuple(shown))

    @property
    def _steps(self) -> Mapping[str, Step]:
        return {step.name: step for step in self.builder.plan.steps if step.meaning is not None}


def _first(rows: Any) -> tuple[int, list[dict[str, Any]]]:
    if isinstance(rows, pa.Table):
        here: pa.Table = rows
        return here.num_rows, here.slice(0, _EXAMPLES).to_pylist()
    return rows.count(), rows.limit(_EXAMPLES).toArrow().to_pylist()
