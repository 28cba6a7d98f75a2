"""Machine readings, brought to one row per machine and quarter of an hour."""

import json

import pytest

from lakehouse_assets_tests.gauntlet.journey import Journey

INGEST = """
files:
  - name: readings
    path: ${DATA}/readings/*.jsonl
    format: jsonl
    columns: [{name: at, type: timestamp}, {name: value, type: double}]
  - {name: machines, path: "${DATA}/machines.csv", format: csv}
"""
QUARTERS = """
key: [machine, window_start]
from: readings
steps:
  - {do: flag, rules: {plausible: value BETWEEN -50 AND 150}}
  - {do: filter, where: size(broken_rules) = 0}
  - {do: resample, time: at, every: 15 minutes, by: [machine], measures: {mean: avg(value), readings: count(*)}}
"""
LATEST = """
/* model
key: [machine]
*/
SELECT machine, MAX(at) AS at FROM readings GROUP BY machine
"""
PLACES = """
/* model
key: [machine]
*/
SELECT machine, place FROM machines
"""


def read(*readings: tuple[str, str, float]) -> str:
    return "".join(
        json.dumps({"machine": machine, "at": f"2026-01-01T{at}Z", "value": value}) + "\n"
        for machine, at, value in readings
    )


@pytest.mark.slow
def test_readings_by_quarter_of_an_hour(project: Journey):
    project.write("ingest/readings.yaml", INGEST)
    project.write("models/quarters.model.yaml", QUARTERS)
    project.write("models/latest.sql", LATEST)
    project.write("models/places.sql", PLACES)
    project.write("data/machines.csv", "machine,place\nm1,hall\n")
    project.write(
        "data/readings/1.jsonl",
        read(("m1", "08:01:00", 10), ("m1", "08:14:59", 20), ("m1", "08:15:00", 5), ("m1", "08:16:00", 999)),
    )
    project.goes(
        "SELECT machine, strftime(window_start, '%H:%M'), mean, readings FROM quarters ORDER BY ALL",
        [("m1", "08:00", 15.0, 2), ("m1", "08:15", 5.0, 1)],
        change=lambda: project.write("data/readings/2.jsonl", read(("m2", "08:30:00", 1))),
        landed={"readings": 1},
        models=("latest", "quarters"),
        then=[("m1", "08:00", 15.0, 2), ("m1", "08:15", 5.0, 1), ("m2", "08:30", 1.0, 1)],
    )
