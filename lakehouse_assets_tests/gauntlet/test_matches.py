"""Football matches in deeply nested JSON: a league table, and who scored."""

import json

from lakehouse_assets_tests.gauntlet.journey import Journey

INGEST = """
files:
  - name: matches
    path: ${DATA}/season/*.json
    format: json
    records: season.days.matches
    keep: {day: season.days.number}
    columns: [{name: day, type: int}, {name: home_goals, type: int}, {name: away_goals, type: int}]
  - name: goals
    path: ${DATA}/season/*.json
    format: json
    records: season.days.matches.events.goals
    keep: {day: season.days.number, match: season.days.matches.id}
    columns: [{name: scorer_number, type: int}, {name: minute, type: int}, {name: day, type: int}]
  - name: clubs
    path: ${DATA}/clubs.json
    format: json
    records: clubs
"""
LEAGUE = """
/* model
description: One row per club with its points.
key: [club]
audits: [{not_null: [points]}]
*/
WITH sides AS (
  SELECT home_name AS club, home_goals - away_goals AS ahead FROM matches
  UNION ALL
  SELECT away_name AS club, away_goals - home_goals AS ahead FROM matches
), results AS (
  SELECT club, CASE WHEN ahead > 0 THEN 3 WHEN ahead = 0 THEN 1 ELSE 0 END AS won FROM sides
)
SELECT clubs.name AS club, clubs.city_name AS city, COALESCE(SUM(won), 0) AS points
FROM clubs LEFT JOIN results ON results.club = clubs.name
GROUP BY clubs.name, clubs.city_name
"""
SCORERS = """
/* model
key: [scorer]
*/
SELECT scorer_name AS scorer, COUNT(*) AS goals, MIN(minute) AS earliest FROM goals GROUP BY scorer_name
"""
CITIES = """
/* model
key: [city]
*/
SELECT city_name AS city, COUNT(*) AS clubs FROM clubs GROUP BY city_name
"""


def match(number: int, home: str, away: str, *scored: tuple[str, str, int]) -> dict[str, object]:
    goals = [
        {"club": club, "minute": minute, "scorer": {"name": name, "number": 9, "boots": [{"left": {"size": 44}}]}}
        for club, name, minute in scored
    ]
    return {
        "id": f"m{number}",
        "home": {"name": home, "goals": sum(each[0] == home for each in scored)},
        "away": {"name": away, "goals": sum(each[0] == away for each in scored)},
        "events": {"goals": goals, "cards": []},
    }


def season(number: int, *matches: dict[str, object]) -> str:
    return json.dumps({"season": {"year": 2026, "days": [{"number": number, "matches": list(matches)}]}})


def test_a_league_of_nested_documents(project: Journey):
    project.write("ingest/matches.yaml", INGEST)
    for name, text in (("league", LEAGUE), ("scorers", SCORERS), ("cities", CITIES)):
        project.write(f"models/{name}.sql", text)
    clubs = [
        {"name": name, "city": {"name": city, "rivers": []}} for name, city in (("A", "X"), ("B", "X"), ("C", "Y"))
    ]
    project.write("data/clubs.json", json.dumps({"clubs": clubs}))
    project.write(
        "data/season/1.json", season(1, match(1, "A", "B", ("A", "Ann", 3), ("A", "Ann", 9)), match(2, "C", "A"))
    )
    query = (
        "SELECT club, points, (SELECT max(goals) FROM scorers), (SELECT count(*) FROM goals WHERE match = 'm1') "
        "FROM league ORDER BY club"
    )
    project.goes(
        query,
        [("A", 4, 2, 2), ("B", 0, 2, 2), ("C", 1, 2, 2)],
        change=lambda: project.write("data/season/2.json", season(2, match(3, "B", "C", ("B", "Bea", 80)))),
        landed={"matches": 1, "goals": 1},
        models=("league", "scorers"),
        then=[("A", 4, 2, 2), ("B", 3, 2, 2), ("C", 1, 2, 2)],
    )
