"""What a model computes from sensitive columns is sensitive, as far as it goes, unless its header says otherwise."""

from lakehouse_assets.contracts.table import Column, TableContract
from lakehouse_assets.models.stored import as_stored, from_stored
from lakehouse_assets_tests.support.models import model_text, project

PEOPLE = TableContract(
    name="people",
    description="One row per person.",
    columns=(
        Column(name="id", type="bigint", description="Number."),
        Column(name="name", type="string", nullable=True, sensitive=True, description="Name."),
        Column(name="town", type="string", nullable=True, description="Town."),
    ),
    key=("id",),
    strategy="upsert",
)


def sensitive(**texts: str) -> dict[str, set[str]]:
    found = project({"people": PEOPLE}, **texts)
    return {name: set(each.sensitive) for name, each in found.meanings.items()}


def test_it_goes_with_the_value_through_models_and_not_with_what_only_decides_the_rows():
    first = model_text("SELECT id, upper(name) AS called, town FROM people WHERE name <> 'x'", key="[id]")
    second = model_text("SELECT town, max(called) AS last, count(*) AS people FROM first GROUP BY town", key="[town]")
    assert sensitive(first=first, second=second) == {"first": {"called"}, "second": {"last"}}


def test_the_header_has_the_last_word_either_way():
    header = {"key": "[id]", "columns": "{mark: {sensitive: false}, town: {sensitive: true}}"}
    text = model_text("SELECT id, sha2(name, 256) AS mark, town FROM people", **header)
    assert sensitive(m=text) == {"m": {"town"}}
    meaning = project({"people": PEOPLE}, m=text).meanings["m"]
    assert from_stored("m", meaning.text, meaning.sql, as_stored(meaning)).sensitive == {"town"}


def test_it_goes_through_a_pivot():
    text = "SELECT * FROM people PIVOT (MAX(name) FOR town IN ('x' AS of_x, 'y' AS of_y))"
    assert sensitive(m=model_text(text, key="[id]")) == {"m": {"of_x", "of_y"}}
