"""What a run did to one asset, as a section of its page."""

from lakehouse_assets.stories.html import Child, Markup, element, join
from lakehouse_assets.stories.page import badge, count, facts, folded, null_or, table
from lakehouse_assets.stories.records import AssetStory, Check, Nulls, PartitionKey, Plan, Write
from lakehouse_assets.stories.rows import changes_badges, sample_tables
from lakehouse_assets.stories.text_diff import shown_diff


def asset_section(asset: AssetStory, outcome: str) -> Markup:
    heading = f"asset-{asset.name}"
    return element(
        "section",
        element(
            "h3", asset.name, " ", element("span", outcome, class_=f"badge {asset.outcome}"), id=heading, tabindex=-1
        ),
        element("p", asset.description, class_="soft"),
        element("p", asset.why),
        [_write(write) for write in asset.writes],
        _nulls(asset.nulls),
        [_plan(plan) for plan in asset.plans],
        element(
            "ul",
            [
                element("li", f"check {check.name} ", badge(_word(check)), f" {check.description}")
                for check in asset.checks
            ],
        )
        if asset.checks
        else None,
        class_="asset",
        aria_labelledby=heading,
    )


def _word(check: Check) -> str:
    if check.passed:
        return "passed"
    return "warning" if check.is_warning else "failed"


def _write(write: Write) -> Markup:
    pruned = write.files_total - write.files_touched
    return join(
        element("h4", f"Write of {', '.join(write.partitions)}" if any(write.partitions) else "Write"),
        element("p", changes_badges(write.rows_inserted, write.rows_updated, write.rows_deleted)),
        facts(
            ("rows unchanged", f"{write.rows_unchanged:,}"),
            ("rows set aside", f"{write.rows_quarantined:,}"),
            ("Delta versions", f"{write.version_before} → {write.version_after}"),
            (
                "files",
                f"{pruned:,} of {write.files_total:,} pruned"
                + (f", {write.files_unbounded:,} for want of statistics" if write.files_unbounded else ""),
            ),
            ("files written", f"{write.files_added:,} added, {write.files_removed:,} removed"),
            ("bytes added", f"{write.bytes_added:,}"),
            ("how", f"{write.strategy} as {write.action}, by {write.executor}: {write.executor_reason}"),
        ),
        [_key(key) for key in write.keys],
        folded("Rows", sample_tables(write.samples), opened=True)
        if write.samples is not None and write.rows_changed
        else None,
    )


def _key(key: PartitionKey) -> Markup:
    changed = [part for part in key.parts if part.changed]
    rows: list[list[Child]] = [
        [part.name, null_or(part.old) if part.old is None else _value(part.old), _value(part.new)]
        for part in (changed or key.parts)
    ]
    equal = len(key.parts) - len(changed)
    told = f"{count(len(changed), 'part')} changed" if changed else "nothing changed"
    title = f"Key of {key.partition}: {told}" if key.partition else f"Key: {told}"
    same = key.content_before is not None and key.content_before == key.content_after
    return folded(
        title,
        table(
            f"parts of the key that changed; {count(equal, 'part')} equal" if changed else "parts of the key",
            ["part", "before", "now"],
            rows,
        ),
        element(
            "p",
            "Content ",
            element("code", key.content_after or "not known"),
            ", as before" if same else f", before: {key.content_before or 'none'}",
            class_="soft",
        ),
    )


def _value(text: str) -> Markup:
    return element("code", text if len(text) <= 200 else f"{text[:200]}…")


def _nulls(nulls: tuple[Nulls, ...]) -> Markup | None:
    if not nulls:
        return None
    return folded(
        f"NULLs in {count(len(nulls), 'column')}",
        table(
            "NULLs by column, before the run and after it",
            ["column", "before", "after"],
            [
                [each.column, _share(each.before, each.rows_before), _share(each.after, each.rows_after)]
                for each in nulls
            ],
            numbers=(1, 2),
        ),
    )


def _share(number: int | None, rows: int | None) -> str:
    if number is None or rows is None:
        return "not known"
    return f"{number:,} of {rows:,}" + (f" ({100 * number / rows:.1f} %)" if rows else "")


def _plan(plan: Plan) -> Markup:
    if plan.before is None:
        word = "recorded for the first time"
    else:
        word = "as before" if plan.before == plan.text else "changed"
    return folded(f"Plan {plan.name}: {word}", shown_diff(plan.before, plan.text))
