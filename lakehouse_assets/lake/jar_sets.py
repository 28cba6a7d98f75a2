"""Which JARs Spark is given: Delta's for every lake, and those of the store that a lake is in.

The `delta-spark` wheel holds Python only, and says by itself which artifact goes with it and with the pinned pyspark.
Of the forty-odd JARs that its coordinates lead to, Spark ships all but Delta's own: the others are excluded by pattern,
so that they are not even downloaded.
"""

from dataclasses import dataclass
from functools import lru_cache

from lakehouse_assets.core.places import Provider
from lakehouse_assets.core.settings import Settings

HADOOP_VERSION = "3.5.0"
"""Of the Hadoop that the pinned pyspark ships; a test holds them together."""
_SERVES_STORE = "Spark cannot read or write tables in an object store"


@dataclass(frozen=True, kw_only=True)
class JarSet:
    """JARs that come and go together."""

    title: str
    coordinates: str
    names: tuple[str, ...]
    """The file names that Ivy gives to those that are needed."""
    excluded: tuple[str, ...]
    """Groups of dependencies that Spark ships already or that nothing of ours uses (Ivy's glob patterns)."""
    serves: str


@lru_cache(maxsize=1)
def delta_set() -> JarSet:
    """Delta's own JARs, by what the delta-spark package tells Spark to fetch."""
    from delta.pip_utils import configure_spark_with_delta_pip
    from pyspark.sql import SparkSession

    builder = configure_spark_with_delta_pip(SparkSession.Builder())
    coordinates: str = builder._options["spark.jars.packages"]  # what nobody started can only be asked so
    _, artifact, version = coordinates.split(":")
    kernel = ("delta-kernel-api", "delta-kernel-defaults", "delta-kernel-unitycatalog")
    return JarSet(
        title="Delta's JARs",
        coordinates=coordinates,
        names=tuple(f"io.delta_{name}-{version}.jar" for name in (artifact, "delta-storage", *kernel)),
        excluded=(
            *("com.*:*", "org.*:*", "commons-*:*", "javax.*:*", "jakarta.*:*"),
            *("io.dropwizard.*:*", "io.netty:*", "io.unitycatalog:*"),
        ),
        serves="Spark cannot read or write Delta tables",
    )


def _hadoop(artifact: str) -> dict[str, str]:
    return {"coordinates": f"org.apache.hadoop:{artifact}:{HADOOP_VERSION}", "serves": _SERVES_STORE}


def _named(artifact: str) -> str:
    return f"org.apache.hadoop_{artifact}-{HADOOP_VERSION}.jar"


STORES: dict[Provider, JarSet] = {
    "s3": JarSet(
        title="the JARs for S3",
        names=(
            _named("hadoop-aws"),
            "software.amazon.awssdk_bundle-2.35.4.jar",
            "software.amazon.s3.analyticsaccelerator_analyticsaccelerator-s3-1.3.1.jar",
        ),
        excluded=("org.wildfly.openssl:*",),
        **_hadoop("hadoop-aws"),
    ),
    "azure": JarSet(
        title="the JARs for Azure",
        names=(_named("hadoop-azure"), "org.hdrhistogram_HdrHistogram-2.1.12.jar"),
        excluded=(
            *("com.*:*", "commons-*:*", "org.apache.hadoop.thirdparty:*", "org.apache.httpcomponents:*"),
            *("org.codehaus.*:*", "org.eclipse.jetty:*", "org.wildfly.openssl:*"),
        ),
        **_hadoop("hadoop-azure"),
    ),
    "gcs": JarSet(
        title="the JARs for Google Cloud Storage",
        names=(_named("hadoop-gcp"),),
        excluded=(),
        **_hadoop("hadoop-gcp"),
    ),
}


def store_set(settings: Settings) -> JarSet | None:
    """What Spark needs besides Delta's JARs to reach the lake; None of a lake on a disk."""
    provider = settings.provider
    return STORES[provider] if provider else None
