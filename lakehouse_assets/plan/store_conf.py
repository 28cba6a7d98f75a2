"""How Spark reaches the store that a lake is in: at the same address as delta-rs, with credentials of the environment.

Invariant: no credential is ever a setting of Spark, which would show it in logs and pages. What stands in its place is
`${env.NAME}`, which Hadoop replaces where it is read, in each process by that one's own environment.

Conditional requests alone keep writers apart: delta-rs puts a log entry only where there is none (`If-None-Match: *`;
with Google, `x-goog-if-generation-match: 0`), and Delta's log stores on Spark have to be as strict.
- Amazon: Delta's own looks whether an entry is there and then writes it; two drivers could both do so. With
  `create.performance`, Hadoop makes of "create, don't overwrite" one conditional request.
- Microsoft: Delta's writes a file beside it and renames it; Hadoop sends the renaming under the condition that the
  name is free.
- Google: Delta's creates the object, which Hadoop sends under the condition that there is no generation of it.
"""

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.hashing import fingerprint
from lakehouse_assets.core.places import Endpoint, is_store, provider_of
from lakehouse_assets.core.settings import Settings

_HADOOP = "spark.hadoop.fs."
_AMAZON = "software.amazon.awssdk.auth.credentials."
_OAUTH = "org.apache.hadoop.fs.azurebfs.oauth2."


def store_conf(tables: str | None, endpoint: Endpoint) -> dict[str, str]:
    """Settings of Spark for the store that an address is of; none for a folder."""
    if tables is None or not is_store(tables):
        return {}
    match provider_of(tables):
        case "s3":
            named = _amazon(endpoint)
        case "azure":
            named = _microsoft(tables, endpoint)
        case "gcs":
            named = _google(endpoint)
    return {f"{_HADOOP}{name}": value for name, value in named.items()}


def store_reach(settings: Settings) -> str:
    """What tells a Spark that reaches the lake's store from one that does not; empty for a lake on a disk."""
    conf = store_conf(settings.tables, settings.endpoint)
    return fingerprint(f"{name}={value}" for name, value in sorted(conf.items())) if conf else ""


def refuse_unreachable(tables: str | None, endpoint: Endpoint) -> None:
    """Refuse Spark where Hadoop cannot do as the environment says: it finds Azure and Google by their names alone, and
    signs each request."""
    if tables is None or not is_store(tables) or provider_of(tables) == "s3":
        return
    if endpoint.url is None and endpoint.credentials != "nothing":
        return
    said = f"the address {endpoint.url}" if endpoint.url else "a key file with disable_oauth"
    raise BadInputError(
        subject="Spark",
        seen=f"the environment has {said} for {tables}, and Hadoop asks the store's own address alone, signed",
        why="Spark's rows would be in another store than those of other engines, or nowhere",
        remedy="write without Spark (LAKEHOUSE_ENGINE=local), as is meant for an emulator, or take it out of the "
        "environment",
    )


def _amazon(endpoint: Endpoint) -> dict[str, str]:
    return {
        "s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
        "AbstractFileSystem.s3.impl": "org.apache.hadoop.fs.s3a.S3A",
        "s3a.aws.credentials.provider": f"{_AMAZON}EnvironmentVariableCredentialsProvider",
        "s3a.create.performance": "true",
        # The default reader fetches ahead for files of gigabytes; ours are of megabytes.
        "s3a.input.stream.type": "classic",
        "s3a.create.conditional.enabled": "true",
        "s3a.endpoint.region": endpoint.region,
        **({"s3a.endpoint": endpoint.url} if endpoint.url else {}),
        "s3a.path.style.access": "true" if endpoint.path_style else "false",
    }


def _microsoft(tables: str, endpoint: Endpoint) -> dict[str, str]:
    account = tables.partition("@")[2].partition("/")[0]
    impl = {
        "abfss.impl": "org.apache.hadoop.fs.azurebfs.SecureAzureBlobFileSystem",
        "AbstractFileSystem.abfss.impl": "org.apache.hadoop.fs.azurebfs.Abfss",
    }
    match endpoint.credentials:
        case "account key":
            return impl | {
                f"azure.account.auth.type.{account}": "SharedKey",
                f"azure.account.key.{account}": _from_environment("AZURE_STORAGE_ACCOUNT_KEY"),
            }
        case "sas":
            return impl | {
                f"azure.account.auth.type.{account}": "SAS",
                f"azure.sas.fixed.token.{account}": _from_environment("AZURE_STORAGE_SAS_TOKEN"),
            }
        case "client secret":
            tenant = _from_environment("AZURE_TENANT_ID")
            return impl | {
                f"azure.account.auth.type.{account}": "OAuth",
                f"azure.account.oauth.provider.type.{account}": f"{_OAUTH}ClientCredsTokenProvider",
                f"azure.account.oauth2.client.endpoint.{account}": (
                    f"https://login.microsoftonline.com/{tenant}/oauth2/token"
                ),
                f"azure.account.oauth2.client.id.{account}": _from_environment("AZURE_CLIENT_ID"),
                f"azure.account.oauth2.client.secret.{account}": _from_environment("AZURE_CLIENT_SECRET"),
            }
        case _:
            return impl | {
                f"azure.account.auth.type.{account}": "OAuth",
                f"azure.account.oauth.provider.type.{account}": f"{_OAUTH}WorkloadIdentityTokenProvider",
                f"azure.account.oauth2.msi.tenant.{account}": _from_environment("AZURE_TENANT_ID"),
                f"azure.account.oauth2.client.id.{account}": _from_environment("AZURE_CLIENT_ID"),
                f"azure.account.oauth2.token.file.{account}": _from_environment("AZURE_FEDERATED_TOKEN_FILE"),
            }


def _google(endpoint: Endpoint) -> dict[str, str]:
    impl = {
        "gs.impl": "org.apache.hadoop.fs.gs.GoogleHadoopFileSystem",
        "AbstractFileSystem.gs.impl": "org.apache.hadoop.fs.gs.Gs",
    }
    match endpoint.credentials:
        case "service account":
            return impl | {
                "gs.auth.type": "SERVICE_ACCOUNT_JSON_KEYFILE",
                "gs.auth.service.account.json.keyfile": _from_environment("GOOGLE_SERVICE_ACCOUNT"),
            }
        case _:  # by GOOGLE_APPLICATION_CREDENTIALS, of its own accord
            return impl | {"gs.auth.type": "APPLICATION_DEFAULT"}


def _from_environment(name: str) -> str:
    return f"${{env.{name}}}"
