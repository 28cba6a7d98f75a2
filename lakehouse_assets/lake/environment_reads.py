"""What the names of an environment stand for, to those who read in it."""

from lakehouse_assets.lake.environments import Environments, kept_meanings
from lakehouse_assets.lake.known_tables import known_tables
from lakehouse_assets.lake.model_engine import relations_sql
from lakehouse_assets.lake.model_inputs import Given, Relation, Relations, Stored, Viewed, needed, relations_of
from lakehouse_assets.lake.query import Tables, tables_now
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.lake.view_rows import ViewReader
from lakehouse_assets.models.environment import known


def environment_relations(lake: Lake, name: str) -> Relations:
    """Every name of the revision in force, each after those it is made of."""
    environment = known(Environments(lake).all(), name)
    return relations_of(lake, environment.members, kept_meanings(lake, environment.members), known_tables(lake))


def environment_tables(lake: Lake, query: str, name: str, views: ViewReader) -> Tables:
    """What a query may name in an environment; a table that it says nothing of is as it is now."""
    shown = environment_relations(lake, name)
    asked = tuple(each for each in shown if each in query.lower())
    now = tables_now(lake, query)
    read = views.settled(lake, needed(shown, asked, known_tables(lake)))
    relations = {**relations_sql(lake, read)}
    relations |= {each: sql for each, sql in now.relations.items() if each not in shown}
    return Tables(
        relations=relations,
        rows={each: what.rows for each, what in read.items() if isinstance(what, Given)},
        known=tuple(dict.fromkeys((*shown, *now.known))),
        numbers={**now.numbers, **{each: _numbers(relation) for each, relation in shown.items()}},
    )


def _numbers(relation: Relation) -> frozenset[str]:
    match relation:
        case Stored(contract=contract):
            return contract.number_columns
        case Viewed(meaning=meaning):
            return meaning.numbers
        case _:
            return frozenset()
