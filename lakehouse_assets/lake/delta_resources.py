"""Tables of the lake as dagster-deltalake's resources, for assets, jobs and notebooks of users' own.

Invariant: what is handed out has an address and what goes with it, and no credential: Dagster shows the configuration
of resources on its pages. delta-rs takes credentials from the environment, as it does for us.
"""

from typing import assert_never

from dagster_deltalake import AzureConfig, DeltaTableResource, GcsConfig, LocalConfig, S3Config
from dagster_deltalake.config import ClientConfig

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.places import Address
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.core.text import nearest
from lakehouse_assets.lake.known_tables import known_tables
from lakehouse_assets.lake.published import published_commits
from lakehouse_assets.lake.tables import Lake

StorageConfig = LocalConfig | S3Config | AzureConfig | GcsConfig


def storage_config(settings: Settings) -> StorageConfig:
    """What dagster-deltalake has to know of the place of the tables."""
    endpoint = settings.endpoint
    match settings.provider:
        case None:
            return LocalConfig()
        case "s3":
            hosted = "false" if endpoint.path_style else None
            return S3Config(region=endpoint.region, endpoint=endpoint.url, virtual_hosted_style_request=hosted)
        case "azure":
            return AzureConfig(account_name=Address.of(settings.tables or "").account)
        case "gcs":
            return GcsConfig(bucket=Address.of(settings.tables or "").bucket)
        case _:
            assert_never(settings.provider)


def table_resource(settings: Settings, name: str, *, repo: str | None = None) -> DeltaTableResource:
    """A table: as it was last published for a repository, whose rows alone are sure to be there; else as it is now."""
    lake = Lake(settings.lake)
    known = known_tables(lake)
    if name not in known:
        raise BadInputError(
            subject=f"table {name}",
            seen="the lake has none of that name",
            why="there is nothing to read",
            remedy=nearest(name, known) or "`lakehouse tables` lists them",
        )
    insecure = settings.endpoint.url is not None and settings.endpoint.url.startswith("http://")
    return DeltaTableResource(
        url=str(lake.path(known[name])),
        storage_options=storage_config(settings),
        client_options=ClientConfig(allow_http=True) if insecure else None,
        version=None if repo is None else _published(lake, name, repo),
    )


def _published(lake: Lake, name: str, repo: str) -> int:
    newest = next(iter(published_commits(lake, repo)), None)
    if newest is None or name not in newest.versions:
        raise BadInputError(
            subject=f"table {name} of {repo}",
            seen="it was never published" if newest is None else "a publication does not name it",
            why="only published versions of tables fit together",
            remedy=f"run `lakehouse sync {repo}`"
            if newest is None
            else "leave out the repository for the table as it is",
        )
    return newest.versions[name]
