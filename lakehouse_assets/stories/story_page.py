"""The story of a run as one page."""

from datetime import UTC, datetime

from lakehouse_assets.stories.asset_section import asset_section
from lakehouse_assets.stories.drawing import Box, bars, graph
from lakehouse_assets.stories.html import Child, Markup, element, join
from lakehouse_assets.stories.page import badge, count, facts, folded, page, table
from lakehouse_assets.stories.records import Outcome, Problem, Story

_WORDS: dict[Outcome, str] = {
    "written": "written",
    "equal": "made anew, came out equal",
    "untouched": "fresh, not made",
    "failed": "failed",
    "skipped": "not reached",
    "running": "running",
}


def story_page(story: Story) -> str:
    """Header, errors, lineage, timeline, and a section for each asset."""
    run = story.run
    return page(
        f"Run {run.run_id[:8]} {run.status}",
        element("header", element("h1", f"Run {run.run_id[:8]} of {run.job} ", badge(run.status)), _summary(story)),
        [problem(each) for each in story.problems],
        element("h2", "What ran"),
        _lineage(story),
        element("h2", "When"),
        _timeline(story),
        element("h2", "The assets"),
        [asset_section(asset, _WORDS[asset.outcome]) for asset in story.assets],
        element("footer", f"Run {run.run_id}. The same as JSON: lakehouse story {run.run_id[:8]} --json"),
    )


def _summary(story: Story) -> Markup:
    run = story.run
    asked: list[Child] = [
        element("div", f"{name}", element("code", f" {commit[:12]}") if commit else None)
        for name, commit in run.asked.items()
    ]
    outcomes = [asset.outcome for asset in story.assets]
    told = ", ".join(f"{outcomes.count(outcome)} {word}" for outcome, word in _WORDS.items() if outcomes.count(outcome))
    nothing = bool(outcomes) and set(outcomes) == {"untouched"}
    return join(
        element("p", "Nothing had to be made: every asset was fresh.") if nothing else None,
        facts(
            ("asked for", asked or "no partition was named"),
            ("started", moment(run.started)),
            ("took", "not ended" if run.seconds is None else f"{run.seconds:.1f} s"),
            ("rows changed", f"{story.rows_changed:,}"),
            ("assets", told or "none"),
        ),
    )


def problem(error: Problem) -> Markup:
    return element(
        "section",
        element("h2", f"{error.subject}"),
        element("p", element("strong", "Seen: "), error.seen),
        element("p", element("strong", "Why it matters: "), error.why) if error.why else None,
        element("p", element("strong", "What to do: "), error.remedy) if error.remedy else None,
        class_="problem",
        aria_label="Error",
    )


def _lineage(story: Story) -> Markup:
    """A box for each step with what became of its assets, and arrows for what it needs."""
    by_step: dict[str, list[str]] = {}
    look: dict[str, str] = {}
    for asset in story.assets:
        by_step.setdefault(asset.step, []).append(f"{asset.name}: {asset.outcome}")
        order = ("failed", "skipped", "running", "written", "equal", "untouched")
        look[asset.step] = min(look.get(asset.step, asset.outcome), asset.outcome, key=order.index)
    boxes = [
        Box(
            key=step.name,
            lines=_lines(step.name, by_step[step.name]),
            look=look[step.name],
            after=step.needs,
            href=f"#asset-{step.assets[0]}",
        )
        for step in story.run.steps
        if step.name in by_step
    ]
    return join(
        graph("Steps of the run and what each needs", boxes),
        folded(
            "The same as a table",
            table(
                "steps",
                ["step", "needs", "assets"],
                [[box.key, ", ".join(box.after) or "nothing", "; ".join(by_step[box.key])] for box in boxes],
            ),
        ),
    )


def _lines(step: str, told: list[str]) -> tuple[str, ...]:
    if len(told) == 1:
        return (step, told[0].partition(": ")[2])
    return (step, *told)


def _timeline(story: Story) -> Markup:
    ran = [step for step in story.run.steps if step.started is not None and step.seconds is not None]
    if not ran:
        return element("p", "No step ran.", class_="soft")
    first = min(step.started or 0 for step in ran)
    whole = max(step.ended or 0 for step in ran) - first
    rows = [(step.name, (step.started or 0) - first, step.seconds or 0.0, step.status) for step in ran]
    phases = [
        [asset.name, *(f"{write.seconds.get(name, 0.0):.3f}" for name in ("stage", "plan", "commit", "ledger"))]
        for asset in story.assets
        for write in asset.writes
    ]
    return join(
        bars("Seconds by step", rows, whole=whole),
        folded(
            f"Seconds of {count(len(phases), 'write')} by phase",
            table(
                "seconds by phase",
                ["asset", "stage", "plan", "commit", "ledger"],
                [list(row) for row in phases],
                numbers=(1, 2, 3, 4),
            ),
        )
        if phases
        else None,
    )


def moment(seconds: float | None) -> str:
    if seconds is None:
        return "not started"
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
