"""Arrow rows come to Spark all of them, however they lie in memory."""

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from lakehouse_assets.lake.frames import frame_of


@pytest.mark.parametrize("sizes", [(8, 6, 5), (1, 1, 1, 1), (3, 0, 100), (70_000, 2)])
def test_no_row_of_a_table_in_several_parts_is_lost(spark: SparkSession, sizes: tuple[int, ...]):
    parts = [pa.table({"part": [number] * size, "row": list(range(size))}) for number, size in enumerate(sizes)]
    rows = pa.concat_tables(parts, promote_options="permissive")
    assert sorted(frame_of(spark, rows).toArrow().to_pylist(), key=str) == sorted(rows.to_pylist(), key=str)


def test_a_table_without_rows_keeps_its_types(spark: SparkSession):
    frame = frame_of(spark, pa.table({"name": pa.array([], pa.string()), "size": pa.array([], pa.int64())}))
    assert {field.name: field.dataType.simpleString() for field in frame.schema} == {"name": "string", "size": "bigint"}
