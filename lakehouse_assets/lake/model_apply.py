"""A plan applied: its models built and audited, then the environment moved to them in one step, or not at all."""

import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from lakehouse_assets.core.effects import reached
from lakehouse_assets.core.errors import LakehouseError
from lakehouse_assets.lake.bookkeeping import bookkeeping
from lakehouse_assets.lake.environment_changes import check_readable
from lakehouse_assets.lake.environment_holds import building
from lakehouse_assets.lake.environments import Environments, keep_versions
from lakehouse_assets.lake.executions import PipelineExecution, begun, tell
from lakehouse_assets.lake.model_audits import Auditor, AuditResult
from lakehouse_assets.lake.model_building import Builder, Made, Workshop
from lakehouse_assets.lake.model_inputs import Stored, needed
from lakehouse_assets.lake.model_plans import check_there
from lakehouse_assets.lake.pins import unvacuumed
from lakehouse_assets.lake.report import WriteReport
from lakehouse_assets.lake.upsert import UpsertService
from lakehouse_assets.models.environment import Environment, Member
from lakehouse_assets.models.planning import Plan, Step

Write = Callable[[Made, str], list[WriteReport]]
"""Writes a model's batches for the run of that id."""


@dataclass(kw_only=True)
class Application:
    """One execution of one plan. Go through `made` to its end, then `finish`.

    Whoever takes a model from `made` has to write its batches before asking for the next, unless `write` does it.
    """

    workshop: Workshop
    plan: Plan
    write: Write | None = None
    execution_id: str | None = None
    run: list[str] = field(default_factory=list[str])
    skipped: dict[str, str] = field(default_factory=dict[str, str])
    failed: dict[str, str] = field(default_factory=dict[str, str])
    audits: list[AuditResult] = field(default_factory=list[AuditResult])
    metrics: dict[str, dict[str, object]] = field(default_factory=dict[str, dict[str, object]])

    def __post_init__(self) -> None:
        self.execution = begun(self.plan.environment.name, "apply", plan=self.plan.id, execution=self.execution_id)
        self.builder = Builder(workshop=self.workshop, plan=self.plan)
        self.auditor = Auditor(builder=self.builder)
        self.under_way = self.plan.environment.name
        self.unasked: dict[str, Step] = {}

    def made(self) -> Iterator[Made]:
        """The models in order, each to be written before the next is asked for."""
        check_there(self.workshop.lake, self.plan)
        if self._has_work:
            tell(self.workshop.lake, self.execution)
        with self._ending():
            yield from self._made()

    @contextmanager
    def _ending(self) -> Generator[None, None, None]:
        """Tell that the execution has failed, whatever else than a model's own failure ends it."""
        whole = False
        try:
            yield
            whole = True
        finally:
            if not whole:
                failed = {**self.failed, self.under_way: _said(sys.exception())}
                tell(self.workshop.lake, self.execution.ended("failed", **{**self._done, "failed": failed}))

    @property
    def _done(self) -> dict[str, Any]:
        return {
            "run": tuple(self.run),
            "skipped": self.skipped,
            "failed": self.failed,
            "metrics": {"models": self.metrics},
        }

    def _made(self) -> Iterator[Made]:
        for step in self.plan.steps:
            self.under_way = step.name
            if step.meaning is None:
                self.skipped[step.name] = step.reason
                continue
            blocked = self._blocking(step)
            if blocked:
                self.failed[step.name] = f"not run, because {', '.join(blocked)} failed"
            elif not step.chosen:
                self.builder.leave(step)
                self.skipped[step.name] = step.reason
                self.unasked[step.name] = step
            elif not step.runs or self.builder.is_cut_off(step):
                self.builder.leave(step)
                self.skipped[step.name] = "its inputs came out as they were" if step.runs else step.reason
                self._guarded(step.name, lambda step=step: self._ask(step))
            else:
                yield from self._one(step)
        for step, audit in self.auditor.waiting:
            self._guarded(step.name, lambda step=step, audit=audit: self._judge(self.auditor.ask_last(step, audit)))

    def _one(self, step: Step) -> Iterator[Made]:
        started = time.perf_counter()
        try:
            for made in self.builder.build(step):
                reports = self.write(made, self.execution.id) if self.write else []
                # An error of another who writes the rows does not come back here.
                yield made if self.write else replace(made, batches=replace(made.batches, writing=self._ending))
                self.metrics[step.name] = _metrics(made, reports)
            self.run.append(step.name)
            self._ask(step)
        except LakehouseError as error:
            self.failed[step.name] = str(error)
        self.metrics.setdefault(step.name, {})["seconds"] = round(time.perf_counter() - started, 3)

    def _guarded(self, name: str, action: Callable[[], None]) -> None:
        try:
            action()
        except LakehouseError as error:
            self.failed[name] = str(error)

    def _blocking(self, step: Step) -> list[str]:
        """The inputs that failed.

        A model that was not chosen is audited here, once its rows are read: its table may be ahead of the environment.
        """
        assert step.meaning is not None
        failed = [name for name in step.meaning.inputs if name in self.failed]
        if failed or not step.runs:
            return failed
        read = needed(self.builder.relations, step.meaning.inputs, self.workshop.tables)
        for name in [name for name in read if name in self.unasked]:
            unchosen = self.unasked.pop(name)
            self._guarded(name, lambda unchosen=unchosen: self._ask(unchosen))
        return [name for name in read if name in self.failed]

    def _ask(self, step: Step) -> None:
        self._judge(self.auditor.ask(step))

    def _judge(self, results: Sequence[AuditResult]) -> None:
        self.audits += results
        for each in results:
            if not each.passed:
                said = f"{each.audit}: {each.rows} rows, such as {list(each.examples)}"
                before = self.failed.get(each.model)
                self.failed[each.model] = (
                    f"{before}; {said}" if before else f"audits found rows that must not be: {said}"
                )

    def carry_out(self) -> PipelineExecution:
        """All of it, where `write` writes; tables that are built are safe from garbage collection meanwhile."""
        with bookkeeping(self.workshop.lake), building(self.workshop.lake):
            for _ in self.made():
                pass
            return self.finish()

    def finish(self) -> PipelineExecution:
        """Move the environment, unless a model failed; the execution is told either way."""
        lake, done = self.workshop.lake, self._done
        if self.failed:
            ended = self.execution.ended("failed", **done)
            tell(lake, ended)
            return ended
        after = self.environment()
        if not self._has_work and after.members == self.plan.environment.members:
            # Nothing is written either, not even that it was asked for.
            return self.execution.ended("succeeded", **done, revision=self.plan.environment.revision)
        self.under_way = after.name
        with self._ending():
            keep_versions(lake, [step.meaning for step in self.plan.steps if step.meaning is not None])
            reached("apply: before environment")
            if after.members == self.plan.environment.members:
                after = self.plan.environment
            refused = self._put(after) if after is not self.plan.environment else None
        if refused is not None:
            tell(lake, self.execution.ended("refused", **{**done, "failed": {after.name: str(refused)}}))
            raise refused
        ended = self.execution.ended("succeeded", **done, revision=after.revision)
        tell(lake, ended)
        return ended

    def _put(self, after: Environment) -> LakehouseError | None:
        """Make the revision the one in force; gives back why that was refused."""
        lake = self.workshop.lake
        try:
            with unvacuumed(lake):
                check_readable(lake, after)
                Environments(lake).put(after)
        except LakehouseError as error:
            return error
        return None

    @property
    def _has_work(self) -> bool:
        return bool(self.plan.running) or self.plan.moves

    def environment(self) -> Environment:
        """The environment as it is to be: what was built, at the versions that the tables have now."""
        members = dict(self.plan.sources)
        for step in self.plan.steps:
            if step.meaning is None:
                continue
            if not step.chosen:
                members[step.name] = self.plan.environment.members[step.name]
                continue
            relation = self.builder.relations[step.name]
            members[step.name] = Member(
                kind="view" if step.action == "view" else "table",
                version=step.meaning.data,
                metadata=step.meaning.metadata,
                table=step.meaning.table,
                table_version=(relation.version or 0) if isinstance(relation, Stored) else -1,
            )
        return self.plan.environment.next("apply", members, execution=self.execution.id, now=datetime.now(UTC))


def written_here(workshop: Workshop) -> Write:
    """Writes through the upsert service, in this process."""
    service = UpsertService(workshop.lake, spark=workshop.spark, because=str(workshop.choice))

    def write(made: Made, run_id: str) -> list[WriteReport]:
        scopes = made.batches.partitions or {"": ()}
        return [
            service.write(
                made.contract, each, {key.partition: scopes[key.partition] for key in each.keys}, run_id=run_id
            )
            for each in made.batches.batches
        ]

    return write


def _said(error: BaseException | None) -> str:
    """What ended an execution: an error of ours in its words; of others only the kind, as they may repeat values."""
    cause = error.__cause__ if error is not None else None
    for each in (error, cause):
        if isinstance(each, LakehouseError):
            return str(each)
    return f"ended by {type(error).__name__}"


def _metrics(made: Made, reports: list[WriteReport]) -> dict[str, object]:
    return {
        "engine": made.engine,
        "engine_reason": made.engine_reason,
        "parts": len(made.step.parts) + len(made.step.copied),
        "rows_changed": sum(each.rows_changed for each in reports),
        "rows_unchanged": sum(each.rows_unchanged for each in reports),
        "files_added": sum(each.files_added for each in reports),
    }
