"""A graph of films in TSV: who played with whom, by what they are known for; lists stand in one value."""

import pytest

from lakehouse_assets_tests.gauntlet.journey import Journey

INGEST = r"""
files:
  - name: films
    path: ${DATA}/films*.tsv
    format: tsv
    nulls: ['\N']
    quote: ""
    columns:
      - {name: year, type: int}
      - {name: genres, type: array<string>, separator: ","}
      - {name: cast, type: array<string>, separator: ","}
  - name: people
    path: ${DATA}/people.tsv
    format: tsv
    nulls: ['\N']
"""
TOGETHER = """
/* model
description: Who played with whom, and in how many films.
key: [one, other]
*/
WITH roles AS (SELECT film, person FROM films LATERAL VIEW EXPLODE(cast) AS person)
SELECT a.person AS one, b.person AS other, COUNT(*) AS films
FROM roles AS a JOIN roles AS b ON a.film = b.film AND a.person < b.person
GROUP BY a.person, b.person
"""
GENRES = """
key: [genre]
from: films
steps:
  - {do: explode, column: genres, into: genre}
  - {do: aggregate, by: [genre], measures: {films: count(*), since: min(year)}}
"""
PEOPLE = """
/* model
key: [person]
*/
SELECT person, name FROM people WHERE name IS NOT NULL
"""
HEAD = "film\ttitle\tyear\tgenres\tcast\n"
LONG = 'The "Long" Way'
FILMS = f"{HEAD}f1\t{LONG}\t1999\tDrama,Comedy\tp1,p2,p3\nf2\tNight\t\\N\tDrama\tp1,p2\nf3\tDay\t2001\t\\N\tp3\n"


@pytest.mark.slow
def test_who_played_with_whom(project: Journey):
    project.write("ingest/films.yaml", INGEST)
    project.write("models/together.sql", TOGETHER)
    project.write("models/genres.model.yaml", GENRES)
    project.write("models/known.sql", PEOPLE)
    project.write("data/films.tsv", FILMS)
    project.write("data/people.tsv", "person\tname\np1\tAnn\np2\tBob\np3\t\\N\n")
    more = f"{HEAD}f4\tDusk\t2020\tComedy\tp2,p3\n"
    project.goes(
        "SELECT one, other, films, (SELECT films FROM genres WHERE genre = 'Comedy'), "
        "(SELECT title FROM films WHERE film = 'f1') FROM together ORDER BY one, other",
        [
            ("p1", "p2", 2, 1, LONG),
            ("p1", "p3", 1, 1, LONG),
            ("p2", "p3", 1, 1, LONG),
        ],
        change=lambda: project.write("data/films2.tsv", more),
        landed={"films": 1},
        models=("genres", "together"),
        then=[
            ("p1", "p2", 2, 2, LONG),
            ("p1", "p3", 1, 2, LONG),
            ("p2", "p3", 2, 2, LONG),
        ],
    )
    assert project.ask("SELECT genre, since FROM genres ORDER BY genre") == [("Comedy", 1999), ("Drama", 1999)]
