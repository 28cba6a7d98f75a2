"""Weather in a format of the project's own: the reader is a module in its folder."""

import pytest

from lakehouse_assets_tests.gauntlet.journey import Journey

READER = '''
"""Reads station files: a line with the station, then `day low high` in tenths of a degree."""

import pyarrow as pa


def read_station(path):
    first, *lines = path.read_text().splitlines()
    if not first.startswith("STATION "):
        raise ValueError("it does not begin with a station")
    days = [line.split() for line in lines]
    return pa.table(
        {
            "station": pa.array([first.removeprefix("STATION ")] * len(days)),
            "day": pa.array([day for day, _, _ in days]),
            "low": pa.array([int(low) for _, low, _ in days], pa.int16()),
            "high": pa.array([int(high) for _, _, high in days], pa.int16()),
        }
    )
'''
INGEST = """
files:
  - name: weather
    path: ${DATA}/stations/*.wx
    format: station_files:read_station
    columns: [{name: day, type: date}]
  - {name: stations, path: "${DATA}/stations.csv", format: csv}
"""
EXTREMES = """
/* model
key: [station]
audits: [not_empty]
*/
SELECT station, MIN(low) AS coldest, MAX(high) AS hottest, COUNT(*) AS days FROM weather GROUP BY station
"""
HEIGHTS = """
/* model
key: [station]
*/
SELECT station, height FROM stations
"""


@pytest.mark.slow
def test_weather_by_a_reader_of_the_project(project: Journey):
    project.write("station_files.py", READER)
    project.write("ingest/weather.yaml", INGEST)
    project.write("models/extremes.sql", EXTREMES)
    project.write("models/heights.sql", HEIGHTS)
    project.write("data/stations.csv", "station,height\nnorth,12\n")
    project.write("data/stations/north.wx", "STATION north\n2026-01-01 -52 13\n2026-01-02 -10 40\n")
    project.write("data/stations/broken.wx", "nothing of the kind\n")
    project.goes(
        "SELECT station, coldest, hottest, days FROM extremes ORDER BY station",
        [("north", -52, 40, 2)],
        change=lambda: project.write("data/stations/south.wx", "STATION south\n2026-01-01 100 250\n"),
        landed={"weather": 1},
        models=("extremes",),
        then=[("north", -52, 40, 2), ("south", 100, 250, 1)],
    )
    assert (
        "broken.wx: it cannot be read as station_files:read_station: it does not begin with a station"
        in project.told[0]
    )
