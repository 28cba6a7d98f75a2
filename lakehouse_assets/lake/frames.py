"""Arrow rows as a Spark frame, in a session of any kind."""

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def frame_of(spark: "SparkSession", rows: pa.Table) -> "DataFrame":
    """The rows with their types. Spark Connect would not take the types of a table without rows from it.

    As one part: of a table in several, Spark reads up to the first that is empty, and says nothing of the rest.
    """
    if rows.num_rows:
        return spark.createDataFrame(rows.combine_chunks())
    from pyspark.sql.pandas.types import from_arrow_schema

    return spark.createDataFrame([], from_arrow_schema(rows.schema))
