"""docs/scale.md and its picture, from what was measured: tables, exponents, the soak, and the plan past one machine."""

import os
from collections.abc import Sequence

from lakehouse_assets.core.settings import PROJECT_ROOT
from lakehouse_assets_tests.bench.measure import goal
from lakehouse_assets_tests.bench.scale_facts import EXPONENTS, REAL, Measured, facts_now, known, shared, slope, soaked
from lakehouse_assets_tests.bench.scale_picture import picture
from lakehouse_assets_tests.bench.scale_plan import plan

PAGE = PROJECT_ROOT / "docs" / "scale.md"
PICTURE = PROJECT_ROOT / "docs" / "scale.svg"
_KINDS = {REAL: "Real code: django", "files": "Files of one repository", "repositories": "Repositories of five files"}


def write_page() -> None:
    facts = facts_now()
    parts = [
        "# Scale",
        "",
        "Written by `python -m lakehouse_assets_tests.bench growth shared soak`, from generated repositories with",
        f"imports, classes and calls. Last part measured {facts['date']} on {facts['machine']}: what was not measured",
        "then stays as an earlier run left it, each with the load of its own time. Seconds are those of a command",
        "as a user runs it, the start of a Spark session apart; memory is the most that all of its processes held",
        "together: the command's own, those that link, Spark's JVM and its workers, looked at every half second;",
        "`load` is the machine's load when it was measured, the command's own included.",
        "",
    ]
    for kind, title in _KINDS.items():
        held = known(kind)
        if held:
            parts += [f"## {title}", "", *_table(held), "", *_exponents(held), ""]
    both = {title: held for kind, title in _KINDS.items() if len(held := known(kind)) > 1}
    if both:
        PICTURE.write_text(picture(both))
        parts += ["![Seconds by size, both axes logarithmic](scale.svg)", ""]
    parts += [*_soak(), *_plan(), ""]
    PAGE.write_text("\n".join(parts).rstrip("\n") + "\n")
    print(f"  written: {PAGE.relative_to(PROJECT_ROOT)}", flush=True)


def _table(held: Sequence[Measured]) -> list[str]:
    return [
        "| size | full build | memory | one-file update | memory | nodes | edges | Delta files | MiB | load |",
        "|---|---|---|---|---|---|---|---|---|---|",
        *(
            f"| {each.size:,} | {each.build_seconds:,.1f} s | {_mib(each.build_memory)} "
            f"| {each.update_seconds:.2f} s | {_mib(each.update_memory)} "
            f"| {each.nodes:,} | {each.edges:,} | {each.delta_files:,} | {each.delta_bytes / 2**20:,.1f} "
            f"| {each.load} |"
            for each in held
        ),
    ]


def _mib(held: int) -> str:
    return f"{held / 2**20:,.0f} MiB"


def _exponents(held: Sequence[Measured]) -> list[str]:
    if len(held) < 2:
        return []
    lines = [
        f"| from {held[-2].size:,} to {held[-1].size:,} grows as size to the power of | | |",
        "|---|---|---|",
    ]
    for name, (label, most) in EXPONENTS.items():
        found = round(slope(held[-2:], name), 2)
        lines.append(f"| {label} | {found:.2f} | {goal(found <= most, f'at most {most}')} |")
    return lines


def _soak() -> list[str]:
    held = soaked()
    if held is None:
        return []
    rows = [
        ("seconds of an update (median)", held.first_seconds, held.last_seconds, ".2f"),
        ("MiB held by the process", held.first_memory / 2**20, held.last_memory / 2**20, ",.0f"),
        ("Delta data files", held.first_files, held.last_files, ",.0f"),
        ("log entries on disk", held.first_entries, held.last_entries, ",.0f"),
    ]
    return [
        "## Soak",
        "",
        f"{held.updates} updates of one file each in one process, with `optimize` and `vacuum` in between: the first "
        f"{held.window} against the last {held.window}, at load {held.load}. Files and entries are those at the end of "
        "each.",
        "",
        f"| | first {held.window} | last {held.window} | ratio |",
        "|---|---|---|---|",
        *(
            f"| {name} | {first:{form}} | {last:{form}} | {last / max(first, 1e-9):.2f} ({_held(first, last)}) |"
            for name, first, last, form in rows
        ),
        "",
    ]


def _held(first: float, last: float) -> str:
    return goal(last <= 1.2 * first, "at most 1.2")


def _plan() -> list[str]:
    real, many = known(REAL), known("repositories")
    return plan(real[-1], many[-1], shared(), cores=os.cpu_count() or 1) if real and many else []
