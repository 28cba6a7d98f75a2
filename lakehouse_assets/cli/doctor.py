"""`lakehouse doctor`: is everything there that a run needs, and if not, what to do."""

import click

from lakehouse_assets.cli.output import json_option, print_json
from lakehouse_assets.core.settings import load_settings

_MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "error": ("✗", "red")}


@click.command()
@json_option
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Check Java, JARs, versions, ports, disk and the lake, and tell what to do."""
    from lakehouse_assets.lake.health import examine

    findings = examine(load_settings())
    if as_json:
        print_json([{"check": f.check, "status": f.status, "seen": f.seen, "remedy": f.remedy} for f in findings])
    else:
        for finding in findings:
            mark, colour = _MARKS[finding.status]
            click.echo(f"{click.style(mark, fg=colour)} {finding.check:<10} {finding.seen}")
            if finding.remedy:
                click.echo(f"  {'':<10} what to do: {finding.remedy}")
    ctx.exit(1 if any(finding.status == "error" for finding in findings) else 0)
