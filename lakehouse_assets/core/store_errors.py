"""What an object store refuses, as people read it: without a word of the request, which a store may repeat."""

from collections.abc import Mapping

from lakehouse_assets.core.errors import EnvironmentNotReadyError
from lakehouse_assets.core.places import Provider, is_store, provider_of

_NO_BUCKET = (
    *("NoSuchBucket", "ContainerNotFound", "bucket does not exist", "container does not exist"),
    *("FilesystemNotFound", "filesystem does not exist"),
)
_CREDENTIALS: Mapping[Provider, str] = {
    "s3": "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY",
    "azure": "AZURE_STORAGE_ACCOUNT_KEY, AZURE_STORAGE_SAS_TOKEN or AZURE_CLIENT_ID and what goes with it",
    "gcs": "GOOGLE_APPLICATION_CREDENTIALS or GOOGLE_SERVICE_ACCOUNT",
}
_ENDPOINTS: Mapping[Provider, str] = {
    "s3": "AWS_ENDPOINT_URL and AWS_REGION",
    "azure": "the account in LAKEHOUSE_LAKE and AZURE_STORAGE_ENDPOINT",
    "gcs": "gcs_base_url in the key file",
}
_REFUSED = (
    *("InvalidAccessKeyId", "SignatureDoesNotMatch", "AccessDenied", "ExpiredToken", "Unauthenticated"),
    *("AuthenticationFailed", "AuthorizationFailure", "AuthorizationPermissionMismatch", "invalid_grant"),
    *("Error performing token request", "Unable to decode service account", "Invalid private key", "DecodeKey"),
    *("403 Forbidden", "401 Unauthorized", "Status Code: 403", "Invalid Access Key", "invalid_client"),
)
_UNREACHABLE = (
    *("error sending request", "Connection refused", "tcp connect", "dns error", "operation timed out"),
    "UnknownHostException",
)
_MARKS: tuple[tuple[str, Provider], ...] = (
    *(("s3://", "s3"), ("S3", "s3"), ("abfss://", "azure"), ("MicrosoftAzure", "azure"), ("azurebfs", "azure")),
    *(("gs://", "gcs"), ("Generic GCS error", "gcs"), ("hadoop.fs.gs", "gcs")),
)
_WHY = "the tables are there; whatever was not committed before has not been"


def no_such_bucket(text: str) -> bool:
    """Whether a store says that it is not the object but its bucket that is missing."""
    return any(word in text for word in _NO_BUCKET)


def store_of(text: str) -> Provider | None:
    """Which store a text is about; None if it is about none."""
    return next((provider for mark, provider in _MARKS if mark in text), None)


def known_store_error(subject: str, text: str, provider: Provider) -> EnvironmentNotReadyError | None:
    """What to tell if `text` is of a refusal that is known; None if it is not."""
    if no_such_bucket(text):
        seen, remedy = "there is no such bucket", "create the bucket, or mend LAKEHOUSE_LAKE"
    elif any(word in text for word in _REFUSED):
        seen = "it refuses the credentials of the environment, or they may not do this"
        remedy = f"check {_CREDENTIALS[provider]} and what they are allowed"
    elif any(word in text for word in _UNREACHABLE):
        seen, remedy = "its endpoint cannot be reached", f"check the network, {_ENDPOINTS[provider]}"
    else:
        return None
    return EnvironmentNotReadyError(subject=subject, seen=seen, why=_WHY, remedy=f"{remedy}, then run it again")


def store_error(url: str, text: str) -> EnvironmentNotReadyError:
    subject = f"object store {'/'.join(url.split('/')[:3])}"
    known = known_store_error(subject, text, provider_of(url)) if is_store(url) else None
    return known or EnvironmentNotReadyError(
        subject=subject,
        seen=f"it answered: {(text.splitlines() or ['nothing'])[0][:200]}",
        why=_WHY,
        remedy="look whether the store is well, then run it again",
    )
