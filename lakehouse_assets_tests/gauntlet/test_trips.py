"""Trips in Parquet by glob, month by month: how long they took, by zone."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakehouse_assets_tests.gauntlet.journey import Journey

INGEST = """
files:
  - {name: trips, path: "${DATA}/trips/**/*.parquet", format: parquet}
  - {name: zones, path: "${DATA}/zones.csv", format: csv, columns: [{name: zone, type: bigint}]}
"""
BY_ZONE = """
description: One row per zone with its trips and their mean length.
key: [zone]
from: trips
steps:
  - {do: validate, rules: {goes_forward: ended >= began}, on_failure: drop}
  - {do: derive, columns: {seconds: unix_timestamp(ended) - unix_timestamp(began)}}
  - {do: aggregate, by: [zone], measures: {trips: count(*), mean_minutes: "round(avg(seconds) / 60, 1)"}}
  - {do: join, table: zones, match: [zone], columns: [name], how: left}
"""
NAMES = """
/* model
key: [name]
*/
SELECT name, COUNT(*) AS zones FROM zones GROUP BY name
"""


def drive(path: Path, *trips: tuple[int, int]) -> None:
    began = datetime(2026, 1, 1, tzinfo=UTC)
    path.parent.mkdir(parents=True, exist_ok=True)
    ended = [began + timedelta(minutes=minutes) for _, minutes in trips]
    moments = pa.timestamp("us", tz="UTC")
    columns = {
        "zone": pa.array([zone for zone, _ in trips], pa.int64()),
        "began": pa.array([began] * len(trips), moments),
    }
    pq.write_table(pa.table({**columns, "ended": pa.array(ended, moments)}), path)


@pytest.mark.slow
def test_trips_by_zone(project: Journey):
    project.write("ingest/trips.yaml", INGEST)
    project.write("models/trips_by_zone.model.yaml", BY_ZONE)
    project.write("models/names.sql", NAMES)
    project.write("data/zones.csv", "zone,name\n1,Centre\n2,Harbour\n")
    trips = project.folder / "data" / "trips"
    drive(trips / "2026" / "01.parquet", (1, 10), (1, 15), (2, 30), (2, -1))
    drive(trips / "2026" / "02.parquet", (2, 10))
    project.goes(
        "SELECT zone, name, trips, mean_minutes FROM trips_by_zone ORDER BY zone",
        [(1, "Centre", 2, 12.5), (2, "Harbour", 2, 20.0)],
        change=lambda: drive(trips / "2026" / "02.parquet", (2, 10), (3, 5)),
        landed={"trips": 1},
        models=("trips_by_zone",),
        then=[(1, "Centre", 2, 12.5), (2, "Harbour", 2, 20.0), (3, None, 1, 5.0)],
    )
