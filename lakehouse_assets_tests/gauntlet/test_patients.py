"""Patient records: names are in the table of patients and nowhere else, and models tell people apart without them."""

import pytest

from lakehouse_assets_tests.gauntlet.journey import Journey
from lakehouse_assets_tests.support.planted import files_with

SECRET = "Zyx98765-planted"
INGEST = """
files:
  - name: patients
    path: ${DATA}/patients*.csv
    format: csv
    columns:
      - {name: patient, type: bigint}
      - {name: name, sensitive: true, description: Name of the patient.}
      - {name: insurance, sensitive: true}
      - {name: born, type: date}
  - name: visits
    path: ${DATA}/visits.jsonl
    format: jsonl
    columns: [{name: patient, type: bigint}, {name: cost, type: bigint}]
"""
COSTS = """
description: What each patient's visits cost, by a number that tells nothing.
key: [insurance]
from: patients
steps:
  - {do: join, table: visits, match: [patient], columns: [cost], how: left}
  - {do: hash, columns: [insurance]}
  - {do: aggregate, by: [insurance], measures: {visits: count(cost), cost: sum(cost)}}
"""
VISITS = """
/* model
key: [patient]
*/
SELECT patient, COUNT(*) AS visits FROM visits GROUP BY patient
"""
CARDS = """
/* model
key: [patient]
columns: {name: {sensitive: true}}
audits: [{accepted_values: {name: [nobody]}}]
*/
SELECT patient, name FROM patients
"""


@pytest.mark.slow
def test_costs_without_names(project: Journey):
    project.write("ingest/patients.yaml", INGEST)
    project.write("models/costs.model.yaml", COSTS)
    project.write("models/visits_by_patient.sql", VISITS)
    project.write("data/patients.csv", f"patient,name,insurance,born\n1,{SECRET},{SECRET}-1,1990-01-01\n2,Bob,B2,\n")
    project.write("data/visits.jsonl", '{"patient": 1, "cost": 100}\n{"patient": 1, "cost": 50}\n')
    more = f"patient,name,insurance,born\n3,Cid {SECRET},C3,2001-02-03\n"
    project.goes(
        "SELECT visits, cost, (SELECT count(*) FROM patients WHERE born IS NOT NULL) FROM costs ORDER BY visits, cost",
        [(0, None, 1), (2, 150, 1)],
        change=lambda: project.write("data/patients_more.csv", more),
        landed={"patients": 1},
        models=("costs",),
        then=[(0, None, 2), (0, None, 2), (2, 150, 2)],
    )
    project.write("models/cards.sql", CARDS)
    with pytest.raises(AssertionError, match="audits found rows"):
        project.run()
    held = set(files_with(project.folder / ".lakehouse", SECRET))
    assert {path.parts[1].partition("__")[0] for path in held} == {"patients", "cards"}
    assert {path.suffix for path in held} == {".parquet"}
    assert SECRET not in "".join(project.told)
