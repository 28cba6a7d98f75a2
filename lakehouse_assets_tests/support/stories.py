"""Stories made by hand."""

from dataclasses import replace
from typing import Any

from lakehouse_assets.stories.records import (
    AssetStory,
    Check,
    KeyPart,
    Nulls,
    PartitionKey,
    Plan,
    Problem,
    Run,
    Samples,
    Step,
    Story,
    Write,
)

HOSTILE = '</td><script>alert("x")</script>\u202e\x1b[31m'


def step(name: str, *needs: str, **more: Any) -> Step:
    known = Step(name=name, assets=(name,), needs=needs, status="succeeded", started=1.0, ended=2.5)
    return replace(known, **more)


def run(*steps: Step, **more: Any) -> Run:
    known = Run(
        run_id="abcdef0123",
        job="sync",
        status="succeeded",
        started=0.0,
        ended=4.0,
        asked={"shop": "c" * 40},
        steps=steps,
        checks=(),
        untouched={},
    )
    return replace(known, **more)


def write(**more: Any) -> Write:
    key = PartitionKey(
        partition="shop",
        parts=(KeyPart(name="code", old="v1", new="v1"), KeyPart(name="commit", old="c1", new="c2")),
        content_before="1-a",
        content_after="2-b",
    )
    numbers = {
        name: 0 for name in Write.__dataclass_fields__ if name.startswith(("rows_", "files_", "bytes_", "version_"))
    }
    words = {"strategy": "upsert", "action": "merge", "executor": "delta-rs", "executor_reason": "it is small"}
    rest: dict[str, Any] = {"partitions": ("shop",), "seconds": {"commit": 0.25}, "keys": (key,), "samples": None}
    return Write(**{**numbers, **words, **rest, **more})


def hostile_story() -> Story:
    """A failed run with hostile text wherever text can come from outside."""
    samples = Samples(
        columns=("path", "size"),
        key=("path",),
        added=((HOSTILE, None),),
        removed=((HOSTILE, "1"),),
        changed=(((HOSTILE, "1"), (HOSTILE, "2")),),
    )
    check = Check(asset="snapshots", name="contract", passed=False, description=HOSTILE)
    snapshots = AssetStory(
        name="snapshots",
        description="One row per file.",
        step="snapshots",
        outcome="written",
        why=HOSTILE,
        writes=(
            write(
                rows_inserted=1,
                rows_updated=1,
                rows_deleted=1,
                files_total=8,
                files_touched=1,
                version_before=3,
                version_after=4,
                samples=samples,
            ),
        ),
        nulls=(Nulls(column="size", before=1, rows_before=4, after=2, rows_after=8),),
        plans=(Plan(name="files", text=f"SELECT 1\nFROM {HOSTILE}", before="SELECT 1\nFROM old"),),
        checks=(check,),
    )
    problem = Problem(subject=HOSTILE, seen=HOSTILE, why="rows would be lost", remedy="mend it")
    blobs = AssetStory(name="blobs", description="", step="blobs", outcome="failed", why="it failed")
    steps = (step("snapshots"), step("blobs", "snapshots", status="failed", problem=problem))
    return Story(run=run(*steps, status="failed", asked={HOSTILE: ""}), assets=(snapshots, blobs))
