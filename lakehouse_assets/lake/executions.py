"""What was done to environments, told while it is under way and when it has ended."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import uuid4

from lakehouse_assets.contracts.pipeline_executions import PIPELINE_EXECUTIONS
from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.lake.small_writes import write_rows
from lakehouse_assets.lake.tables import Lake

Status = Literal["running", "succeeded", "failed", "refused"]


@dataclass(frozen=True, kw_only=True)
class PipelineExecution:
    """One apply, promotion or rollback. `skipped` and `failed` say why, by model."""

    id: str
    environment: str
    action: str
    started_at: datetime
    plan: str = ""
    status: Status = "running"
    run: tuple[str, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict[str, str])
    failed: Mapping[str, str] = field(default_factory=dict[str, str])
    metrics: Mapping[str, Any] = field(default_factory=dict[str, Any])
    ended_at: datetime | None = None
    revision: int | None = None
    """The revision of the environment that it made."""

    def ended(self, status: Status, **changes: Any) -> "PipelineExecution":
        return replace(self, status=status, ended_at=datetime.now(UTC), **changes)

    def as_row(self) -> dict[str, Any]:
        return {
            "execution": self.id,
            "environment": self.environment,
            "action": self.action,
            "status": self.status,
            "plan": self.plan,
            "models_run": list(self.run),
            "models_skipped": sorted(self.skipped),
            "models_failed": sorted(self.failed),
            "errors": [f"{name}: {text}" for name, text in sorted(self.failed.items())],
            "metrics": json_text({**self.metrics, "skipped": dict(self.skipped), "revision": self.revision}),
            "started_at": self.started_at,
            "ended_at": self.ended_at,
        }


def begun(environment: str, action: str, *, plan: str = "", execution: str | None = None) -> PipelineExecution:
    now = datetime.now(UTC)
    return PipelineExecution(
        id=execution or uuid4().hex[:12], environment=environment, action=action, started_at=now, plan=plan
    )


def tell(lake: Lake, execution: PipelineExecution) -> None:
    write_rows(lake, PIPELINE_EXECUTIONS, [execution.as_row()], run_id=f"{execution.id}-{execution.status}")
