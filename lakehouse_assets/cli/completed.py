"""What a shell completes besides verbs and options: the names of this lake's repositories and tables."""

import click

from lakehouse_assets.core.errors import LakehouseError


def repository_names(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Registered repositories; none where the lake cannot be read: a shell has no place to tell why."""
    from lakehouse_assets.core.settings import load_settings
    from lakehouse_assets.lake.registry import Registry
    from lakehouse_assets.lake.tables import Lake

    try:
        known = Registry(Lake(load_settings().lake)).all()
    except LakehouseError:
        return []
    return [name for name in known if name.startswith(incomplete)]


def table_names(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    from lakehouse_assets.contracts.catalog import CATALOG

    return [name for name in CATALOG if name.startswith(incomplete)]
