"""Where tables can be, as one address tells it: a folder, or a bucket of Amazon's, Microsoft's or Google's.

Everything that depends on the store is found from here: which variables of the environment it takes, and what is
refused before the first request. Invariant: an address has no credential, and neither has anything made of one; what
is kept of credentials is their kind.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import unquote, urlparse

from pydantic import BaseModel, ConfigDict

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.text import nearest

Provider = Literal["s3", "azure", "gcs"]
CredentialKind = Literal[
    "access key",
    "account key",
    "sas",
    "client secret",
    "federated token",
    "service account",
    "application default",
    "nothing",
]

_SETTING = "LAKEHOUSE_LAKE"
_PREFIX = r"(/[A-Za-z0-9._=-]+)*"
_SHAPES: Mapping[str, re.Pattern[str]] = {
    "s3": re.compile(rf"s3://[a-z0-9][a-z0-9.-]{{1,61}}[a-z0-9]{_PREFIX}"),
    "abfss": re.compile(
        r"abfss://[a-z0-9](-?[a-z0-9]){2,62}@(?P<account>[a-z0-9]{3,24})\.dfs\.core\.(windows\.net|chinacloudapi\.cn|"
        rf"usgovcloudapi\.net){_PREFIX}"
    ),
    "gs": re.compile(rf"gs://[a-z0-9][a-z0-9._-]{{1,61}}[a-z0-9]{_PREFIX}"),
}
_PROVIDERS: Mapping[str, Provider] = {"s3": "s3", "abfss": "azure", "gs": "gcs"}
_EXAMPLES = "s3://bucket/prefix, abfss://container@account.dfs.core.windows.net/prefix or gs://bucket/prefix"
_ALIKE = {
    "s3a": "s3",
    "s3n": "s3",
    "abfs": "abfss",
    "wasb": "abfss",
    "wasbs": "abfss",
    "az": "abfss",
    "adl": "abfss",
} | {
    "azure": "abfss",
    "gcs": "gs",
}
"""Other names for the same stores, some engines' own."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StorePlace(_Frozen):
    """Tables in an object store, and the folder of this machine for what the store does not keep, such as locks."""

    url: str
    machine: Path

    @property
    def provider(self) -> Provider:
        return provider_of(self.url)


class Endpoint(_Frozen):
    """Where an object store answers, and by which kind of right, as the environment has it. It has no credentials."""

    url: str | None = None
    region: str = "us-east-1"
    path_style: bool = False
    """Whether the bucket is part of the path instead of the host's name."""
    credentials: CredentialKind = "access key"


@dataclass(frozen=True, kw_only=True)
class Address:
    """An address taken apart: `bucket` is a container with Microsoft, where `account` says whose it is."""

    scheme: str
    bucket: str
    key: str
    account: str = ""

    @staticmethod
    def of(url: str) -> "Address":
        scheme, _, rest = url.partition("://")
        authority, _, key = rest.partition("/")
        bucket, _, host = authority.partition("@")
        return Address(scheme=scheme, bucket=bucket, key=key, account=host.partition(".")[0])


def is_store(address: str | None) -> bool:
    """Whether an address that was accepted is of an object store."""
    return address is not None and address.partition("://")[0] in _PROVIDERS


def provider_of(url: str) -> Provider:
    return _PROVIDERS[url.partition("://")[0]]


def tables_place(env: Mapping[str, str]) -> str | None:
    """`LAKEHOUSE_LAKE`: the whole path of a folder, or the address of a store; None if it is not set."""
    given = env.get(_SETTING)
    if not given:
        return None
    if given.startswith("file:"):
        return _folder(given)
    if "://" not in given:
        return str(Path(given).expanduser().absolute())
    url = given.rstrip("/")
    scheme = given.partition("://")[0]
    shape = _SHAPES.get(scheme)
    if shape is None:
        meant = f"did you mean {_ALIKE[scheme]!r}?" if scheme in _ALIKE else nearest(scheme, _SHAPES)
        raise _refused(given, f"{scheme}:// is no store that is known", meant)
    if not shape.fullmatch(url):
        raise _refused(given, f"it is not a whole address of {scheme}://")
    return url


def _folder(given: str) -> str:
    parts = urlparse(given)
    if parts.netloc not in ("", "localhost") or not parts.path.startswith("/"):
        raise _refused(given, "a folder's address is file:/// with a whole path behind it")
    return str(Path(unquote(parts.path)))


def _refused(given: str, seen: str, hint: str = "") -> BadInputError:
    credentials = "//[^/]*:[^/]*@" if given.startswith("abfss://") else "//[^/]*@"  # its container is not one
    return BadInputError(
        subject=_SETTING,
        seen=f"{re.sub(credentials, '//…@', given)!r} is neither a folder nor an address of a store: {seen}",
        why="the tables have to be in one place, for every engine by the same name",
        remedy=f"{hint}{' ' if hint else ''}give a folder, or {_EXAMPLES}; a prefix has letters, digits, '.', '_', '-' "
        "and '='; credentials are never part of it",
    )


def endpoint_of(url: str | None, env: Mapping[str, str]) -> Endpoint:
    """What the environment says of the store, from the variables that delta-rs reads too, so that all engines ask the
    same one by the same right."""
    if url is None or not is_store(url):
        return Endpoint()
    match provider_of(url):
        case "s3":
            return _amazon(env)
        case "azure":
            return _microsoft(Address.of(url), env)
        case "gcs":
            return _google(env)


def _amazon(env: Mapping[str, str]) -> Endpoint:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        if not env.get(name):
            raise _missing(name, "it is not set", f"set {name}")
    url = _override(env, "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT", insecure="AWS_ALLOW_HTTP")
    return Endpoint(
        url=url,
        region=env.get("AWS_REGION") or env.get("AWS_DEFAULT_REGION") or "us-east-1",
        path_style=url is not None and env.get("AWS_VIRTUAL_HOSTED_STYLE_REQUEST", "").lower() != "true",
    )


_AZURE_RIGHTS: tuple[tuple[CredentialKind, tuple[str, ...]], ...] = (
    ("account key", ("AZURE_STORAGE_ACCOUNT_KEY",)),
    ("sas", ("AZURE_STORAGE_SAS_TOKEN",)),
    ("client secret", ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET")),
    ("federated token", ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_FEDERATED_TOKEN_FILE")),
)


def _microsoft(address: Address, env: Mapping[str, str]) -> Endpoint:
    other = env.get("AZURE_STORAGE_ACCOUNT_NAME")
    if other and other != address.account:
        raise BadInputError(
            subject="AZURE_STORAGE_ACCOUNT_NAME",
            seen=f"it is {other!r}, and {_SETTING} names the account {address.account!r}",
            why="engines would ask different accounts",
            remedy="unset it: the address says which account it is",
        )
    names = ("AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT")
    if env.get("AZURE_STORAGE_USE_EMULATOR", "").lower() == "true":
        # Said so, because Azurite lists otherwise than Microsoft: engines have to look at all names.
        names = ("AZURITE_BLOB_STORAGE_URL",)
    url = _override(env, *names, insecure="AZURE_ALLOW_HTTP")
    for kind, names in _AZURE_RIGHTS:
        if all(env.get(name) for name in names):
            return Endpoint(url=url, credentials=kind)
    choices = ", or ".join(" and ".join(names) for _, names in _AZURE_RIGHTS)
    raise _missing("AZURE_STORAGE_ACCOUNT_KEY", "neither it nor what may stand for it is set", f"set {choices}")


def _google(env: Mapping[str, str]) -> Endpoint:
    name = "GOOGLE_SERVICE_ACCOUNT" if env.get("GOOGLE_SERVICE_ACCOUNT") else "GOOGLE_APPLICATION_CREDENTIALS"
    path, remedy = env.get(name), f"set {name} to the JSON file of a service account's key"
    if not path:
        raise _missing(name, "it is not set", remedy)
    try:
        held: Any = json.loads(Path(path).read_text())
    except (OSError, ValueError) as error:
        raise _missing(name, f"{path} cannot be read as JSON ({type(error).__name__})", remedy) from None
    if not isinstance(held, dict):
        raise _missing(name, f"{path} is not the key of an account", remedy)
    told = cast("dict[str, Any]", held)
    url = told.get("gcs_base_url") or None
    _refuse_open_line(f"gcs_base_url in {path}", url, env, "GOOGLE_ALLOW_HTTP")
    if name == "GOOGLE_APPLICATION_CREDENTIALS":
        return Endpoint(url=url, credentials="application default")
    return Endpoint(url=url, credentials="nothing" if told.get("disable_oauth") else "service account")


def _override(env: Mapping[str, str], *names: str, insecure: str) -> str | None:
    """The address that the environment has instead of the store's own."""
    name = next((each for each in names if env.get(each)), None)
    if name is None:
        return None
    _refuse_open_line(name, env[name], env, insecure)
    return env[name]


def _refuse_open_line(name: str, url: str | None, env: Mapping[str, str], insecure: str) -> None:
    if url is not None and url.startswith("http://") and env.get(insecure, "").lower() != "true":
        raise BadInputError(
            subject=name,
            seen=f"{url} is not encrypted, and {insecure} is not true",
            why="rows would go over the network as anyone can read them",
            remedy=f"use an https:// endpoint, or set {insecure}=true where the network is your own",
        )


def _missing(name: str, seen: str, remedy: str) -> BadInputError:
    return BadInputError(
        subject=name,
        seen=f"{seen}, and {_SETTING} names a store that asks for it",
        why="credentials come from the environment alone",
        remedy=f"{remedy}, for this process and for Spark's workers; or unset {_SETTING}",
    )
