"""`lakehouse repo`: register repositories, list them, remove them."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lakehouse_assets.cli.completed import repository_names
from lakehouse_assets.cli.output import json_option, print_json, print_rows
from lakehouse_assets.cli.progress import Progress
from lakehouse_assets.core.diagnostics import listening
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import Settings, load_settings
from lakehouse_assets.core.text import lines_of

if TYPE_CHECKING:
    from lakehouse_assets.core.repository import Repository


@click.group()
def repo() -> None:
    """Register repositories, list them, remove them."""


@repo.command("add")
@click.argument("name", required=False)
@click.argument("location", metavar="PATH_OR_URL", required=False)
@click.option("--ref", help="Branch, tag or commit to follow (default: HEAD).")
@click.option("--include", multiple=True, metavar="GLOB", help="Keep only matching paths; may be repeated.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Leave matching paths out; may be repeated.")
@click.option("--language", "languages", multiple=True, help="Keep only files of this language; may be repeated.")
@click.option("--from", "from_file", type=click.Path(path_type=Path), help="A line each: name, tab, path or URL.")
@click.option("--update", is_flag=True, help="Let a registered name take these settings.")
@json_option
def add(
    name: str | None,
    location: str | None,
    ref: str | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    languages: tuple[str, ...],
    from_file: Path | None,
    update: bool,
    as_json: bool,
) -> None:
    """Register a repository under NAME, or many from a file: all of them or none."""
    pairs = _pairs(name, location, from_file)
    settings = load_settings()
    changed = register(settings, pairs, ref=ref, include=include, exclude=exclude, languages=languages, update=update)
    if as_json:
        print_json({"registered": [r.name for r in changed], "unchanged": len(pairs) - len(changed)})
        return
    for repository in changed:
        click.echo(f"registered {repository.name} ({repository.kind.replace('_', ' ')}: {repository.location})")
    if not changed:
        click.echo("registered already; nothing changed")


@repo.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List the registered repositories."""
    from lakehouse_assets.lake.registry import Registry
    from lakehouse_assets.lake.tables import Lake

    repositories = Registry(Lake(load_settings().lake)).all().values()
    rows = [
        {
            "name": r.name,
            "kind": r.kind,
            "location": r.location,
            "ref": r.ref,
            "include": list(r.include),
            "exclude": list(r.exclude),
            "languages": list(r.languages),
        }
        for r in repositories
    ]
    if as_json:
        print_json(rows)
    elif rows:
        print_rows([{key: value or None for key, value in row.items()} for row in rows], list(rows[0]))
    else:
        click.echo("no repository is registered yet; add one with `lakehouse repo add NAME PATH_OR_URL`")


@repo.command("remove")
@click.argument("names", nargs=-1, required=True, metavar="NAME…", shell_complete=repository_names)
@click.option("--keep-rows", is_flag=True, help="Leave the repository's rows in the tables.")
@json_option
def remove(names: tuple[str, ...], keep_rows: bool, as_json: bool) -> None:
    """Unregister repositories and delete their rows; contents that others share stay.

    A repository that is being synced is removed when that is done; a sync that comes later is refused.
    """
    from lakehouse_assets.assets.removal import remove_repositories
    from lakehouse_assets.lake.registry import Registry
    from lakehouse_assets.lake.repository_locks import OF_MONTHS, held
    from lakehouse_assets.lake.tables import Lake

    settings = load_settings()
    Registry(Lake(settings.lake)).get(names)  # a name that is wrong is refused before anything is waited for
    with listening(Progress(quiet=as_json).on_diagnostic), held(settings.locks, [*names, OF_MONTHS]):
        deleted = remove_repositories(settings, names, keep_rows=keep_rows)
        align_dagster(settings)
    if as_json:
        print_json({"removed": list(names), "rows_deleted": deleted})
        return
    click.echo(f"removed {', '.join(names)}")
    for table, rows in deleted.items():
        click.echo(f"  {rows:,} rows deleted from {table}")


def register(
    settings: Settings,
    pairs: list[tuple[str, str]],
    *,
    ref: str | None = None,
    include: tuple[str, ...] = (),
    exclude: tuple[str, ...] = (),
    languages: tuple[str, ...] = (),
    update: bool = False,
) -> "list[Repository]":
    """Check every pair, register all or none, and give Dagster its partitions."""
    from lakehouse_assets.core.repository import Repository, check_name
    from lakehouse_assets.extract.languages import check_languages
    from lakehouse_assets.lake.registry import Registry
    from lakehouse_assets.lake.tables import Lake
    from lakehouse_assets.sources.head import resolve_head
    from lakehouse_assets.sources.location import locate

    kept = check_languages(languages)
    repositories: list[Repository] = []
    for name, text in pairs:
        check_name(name)
        location, kind = locate(text)
        repository = Repository(
            name=name,
            location=location,
            kind=kind,
            ref=ref,
            include=include,
            exclude=exclude,
            languages=kept,
        )
        if kind == "local_git":
            resolve_head(repository, settings.mirrors)  # an empty repository or a missing ref is refused here
        repositories.append(repository)
    changed = Registry(Lake(settings.lake)).add(repositories, update=update)
    align_dagster(settings)
    return changed


def align_dagster(settings: Settings) -> None:
    """The registry decides which partitions there are; Dagster's instance follows."""
    from lakehouse_assets.assets.partitions import align_partitions
    from lakehouse_assets.cli.instance import open_instance
    from lakehouse_assets.lake.registry import Registry
    from lakehouse_assets.lake.tables import Lake

    with open_instance(settings) as instance:
        align_partitions(instance, Registry(Lake(settings.lake)).all())


def _pairs(name: str | None, location: str | None, from_file: Path | None) -> list[tuple[str, str]]:
    if from_file is None:
        if name is None or location is None:
            raise click.UsageError("give NAME and PATH_OR_URL, or --from FILE")
        return [(name, location)]
    if name is not None:
        raise click.UsageError("--from FILE takes no NAME")
    try:
        lines = lines_of(from_file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(
            subject=str(from_file),
            seen=f"it cannot be read as text: {error}",
            why="it should list the repositories to register",
            remedy="give a UTF-8 file with a line each: name, tab, path or URL",
        ) from error
    pairs: list[tuple[str, str]] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        left, tab, right = line.partition("\t")
        if not tab or not right.strip():
            raise BadInputError(
                subject=f"{from_file}, line {number}",
                seen=f"{line!r} has no tab between a name and a path or URL",
                why="nothing of the file was registered, so that a wrong line is not half a job",
                remedy="write a line each: name, tab, path or URL",
            )
        pairs.append((left.strip(), right.strip()))
    return pairs
