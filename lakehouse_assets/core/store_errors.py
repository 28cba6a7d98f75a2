"""What an object store refuses, as people read it: without a word of the request, which a store may repeat."""

from lakehouse_assets.core.errors import EnvironmentNotReadyError

_KNOWN = (
    (
        ("NoSuchBucket", "bucket does not exist"),
        "there is no such bucket",
        "create the bucket, or mend LAKEHOUSE_LAKE, then run it again",
    ),
    (
        (
            *("InvalidAccessKeyId", "SignatureDoesNotMatch", "AccessDenied", "ExpiredToken", "Unauthenticated"),
            *("403 Forbidden", "401 Unauthorized", "Status Code: 403"),
        ),
        "it refuses the credentials of the environment, or they may not do this",
        "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and what they are allowed, then run it again",
    ),
    (
        ("error sending request", "Connection refused", "tcp connect", "dns error", "operation timed out"),
        "its endpoint cannot be reached",
        "check the network, AWS_ENDPOINT_URL and AWS_REGION, then run it again",
    ),
)


def known_store_error(subject: str, text: str) -> EnvironmentNotReadyError | None:
    """What to tell if `text` is of a refusal that is known; None if it is not."""
    for words, seen, remedy in _KNOWN:
        if any(word in text for word in words):
            return EnvironmentNotReadyError(subject=subject, seen=seen, why=_WHY, remedy=remedy)
    return None


_WHY = "the tables are there; whatever was not committed before has not been"


def store_error(url: str, text: str) -> EnvironmentNotReadyError:
    subject = f"object store {'/'.join(url.split('/')[:3])}"
    return known_store_error(subject, text) or EnvironmentNotReadyError(
        subject=subject,
        seen=f"it answered: {(text.splitlines() or ['nothing'])[0][:200]}",
        why=_WHY,
        remedy="look whether the store is well, then run it again",
    )
