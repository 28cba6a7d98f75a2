"""What a change of a model means: which versions move, and what is said of it."""

import pytest

from lakehouse_assets.contracts.table import Column, TableContract
from lakehouse_assets.models.categories import Change, categorize
from lakehouse_assets.models.project import Project
from lakehouse_assets_tests.support.models import model_text, project

BASE = "SELECT repo, path, size, lines FROM files WHERE size > 0"
CHILD = "SELECT repo, path, size * 2 AS twice FROM base"
OTHER = "SELECT repo, path, lines FROM base"


def changes(before: Project, after: Project) -> dict[str, Change]:
    olds, news = before.meanings, after.meanings
    return {name: categorize(olds.get(name), news.get(name), olds, news) for name in sorted({*olds, *news})}


def told(before: Project, after: Project) -> dict[str, str]:
    """The categories of all but what is unchanged."""
    found = {name: change.category for name, change in changes(before, after).items()}
    return {name: category for name, category in found.items() if category != "unchanged"}


def three(base: str = BASE, child: str = CHILD, other: str = OTHER) -> Project:
    return project(base=base, child=child, other=other)


@pytest.mark.parametrize(
    "base",
    [
        "-- a word\nselect Repo,\n  path /* here */, size, lines from FILES where (size > 0)".replace(
            "(size > 0)", "size > 0"
        ),
        "SELECT files.repo AS repo, files.path, Size, lines FROM files WHERE files.size > 0",
        BASE + " ORDER BY path",
    ],
)
def test_formatting_comments_and_case_change_nothing(base: str):
    assert told(three(), three(base)) == {}


def test_a_description_changes_metadata_only_and_only_of_its_model():
    described = model_text(BASE, description="All files.", columns="{repo: Its repository.}")
    assert told(three(), three(described)) == {"base": "metadata only"}
    assert changes(three(), three(described))["base"].details == ("description", "columns")


def test_the_order_of_columns_is_metadata():
    assert told(three(), three("SELECT path, repo, size, lines FROM files WHERE size > 0")) == {"base": "metadata only"}


def test_an_added_column_that_nobody_reads_affects_its_model_alone():
    found = changes(three(), three("SELECT repo, path, size, lines, day FROM files WHERE size > 0"))
    assert found["base"] == Change(category="added columns", details=("column day added",))
    assert {found["child"].category, found["other"].category} == {"unchanged"}


def test_where_a_column_is_added_does_not_matter():
    assert told(three(), three("SELECT repo, day, path, size, lines FROM files WHERE size > 0")) == {
        "base": "added columns"
    }


def test_a_star_takes_an_added_column_along():
    before = project(base=BASE, all_of_it="SELECT * FROM base")
    after = project(base=BASE.replace("lines", "lines, day"), all_of_it="SELECT * FROM base")
    assert told(before, after) == {"base": "added columns", "all_of_it": "added columns"}


def test_a_changed_column_affects_those_who_read_it_and_says_through_what():
    found = changes(three(), three(BASE.replace("size,", "size + 1 AS size,")))
    assert found["base"].category == "breaking"
    assert found["base"].details == ("column size changed",)
    assert found["child"] == Change(category="indirect", through=(("base", "size"),))
    assert found["other"].category == "unchanged"


def test_a_changed_filter_affects_all_who_read_a_row():
    found = changes(three(), three(BASE.replace("> 0", "> 1")))
    assert found["base"].details == ("which rows there are",)
    assert {found["child"], found["other"]} == {Change(category="indirect", through=(("base", ""),))}


def test_a_renamed_column_is_breaking_and_its_readers_have_to_follow():
    found = changes(
        three(), three(BASE.replace("lines", "lines AS rows"), CHILD, "SELECT repo, path, rows AS lines FROM base")
    )
    assert found["base"].details == ("column rows added", "column lines removed")
    assert found["base"].category == "breaking"
    assert found["child"].category == "unchanged"
    assert found["other"].category == "breaking"


@pytest.mark.parametrize(
    ("header", "detail"),
    [
        ({"key": "[path]"}, "key: repo, path → path"),
        ({"materialization": "by_key"}, "materialization: full → by_key"),
        ({"cluster_by": "[path]"}, "cluster_by: none → path"),
    ],
)
def test_a_changed_key_or_way_of_storing_is_breaking_for_the_model_and_nothing_to_its_readers(header, detail):
    found = changes(three(), three(model_text(BASE, **header)))
    assert found["base"] == Change(category="breaking", details=(detail,))
    assert {found["child"].category, found["other"].category} == {"unchanged"}


def test_new_and_removed_models_are_told():
    assert told(project(base=BASE), project(base=BASE, more=CHILD)) == {"more": "new"}
    assert told(project(base=BASE, more=CHILD), project(base=BASE)) == {"more": "removed"}


def test_a_change_passes_through_a_model_that_stays_as_it_is_to_the_column():
    def chain(base: str) -> Project:
        middle = "SELECT repo, path, size AS s, lines AS l FROM base"
        end, side = "SELECT repo, path, s FROM middle", "SELECT repo, path, l FROM middle"
        return project(base=base, middle=middle, end=end, side=side)

    before, after = chain(BASE), chain(BASE.replace("size,", "size + 1 AS size,"))
    assert told(before, after) == {"base": "breaking", "middle": "indirect", "end": "indirect"}
    assert changes(before, after)["end"].through == (("middle", "s"),)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("SELECT repo, path FROM files", "SELECT repo, path, explode(words) AS word FROM files"),
        ("SELECT 'x' AS repo, 'y' AS path FROM files", "SELECT 'x' AS repo, 'y' AS path, count(*) AS n FROM files"),
        ("SELECT DISTINCT repo, path FROM files", "SELECT DISTINCT repo, path, size FROM files"),
        (
            "SELECT repo, path, max(size) AS s FROM files GROUP BY ALL",
            "SELECT repo, path, lines, max(size) AS s FROM files GROUP BY ALL",
        ),
        (
            "SELECT repo, path FROM files UNION SELECT 'a', 'b'",
            "SELECT repo, path, size FROM files UNION SELECT 'a', 'b', 1",
        ),
    ],
    ids=["explode", "aggregate", "distinct", "group by all", "union"],
)
def test_a_new_column_that_changes_the_rows_is_breaking(before: str, after: str):
    assert told(project(m=before), project(m=after)) == {"m": "breaking"}


def test_a_window_that_chooses_rows_counts_as_rows():
    top = "SELECT repo, path FROM files QUALIFY row_number() OVER (PARTITION BY repo ORDER BY {}) = 1"
    found = changes(project(m=top.format("size")), project(m=top.format("lines")))
    assert found["m"].details == ("which rows there are",)


def test_another_declared_type_is_another_column_to_its_readers():
    typed = model_text(BASE, columns="{size: {type: string}}")
    found = changes(three(), three(typed))
    assert found["base"].category == "breaking"
    assert found["child"] == Change(category="indirect", through=(("base", "size"),))
    assert found["other"].category == "unchanged"


READING = {
    "an order that chooses rows": ("SELECT repo, path FROM base ORDER BY {} OFFSET 2", "[repo, path]"),
    "a limit": ("SELECT repo, path FROM base ORDER BY {} LIMIT 2", "[repo, path]"),
    "a part of WITH that hides a table": (
        "WITH base AS (SELECT repo, path FROM base WHERE {} > 1) SELECT * FROM base",
        "[repo, path]",
    ),
    "two parts of WITH of one name": (
        "SELECT x.repo, y.path FROM (WITH w AS (SELECT repo FROM base) SELECT * FROM w) AS x "
        "JOIN (WITH w AS (SELECT repo, path FROM base WHERE {} > 1) SELECT * FROM w) AS y ON x.repo = y.repo",
        "[repo, path]",
    ),
    "a pivot": (
        "SELECT * FROM (SELECT repo, path, {} AS v FROM base) PIVOT (MAX(v) FOR path IN ('a' AS a, 'b' AS b))",
        "[repo]",
    ),
    "a pivot of a table": ("SELECT repo, a FROM base PIVOT (COUNT(path) FOR path IN ('a' AS a))", "[repo]"),
    "a join in parentheses": (
        "SELECT a.repo, a.path FROM files AS a LEFT JOIN (files AS b JOIN base AS c ON b.path = c.path AND c.{} > 1) "
        "ON a.path = b.path",
        "[repo, path]",
    ),
    "a natural join": ("SELECT repo, path FROM files NATURAL JOIN (SELECT repo, {} FROM base)", "[repo, path]"),
    "groups that are not shown": ("SELECT repo, COUNT(*) AS n FROM base GROUP BY CUBE (repo, {})", "[repo]"),
    "rows told apart": ("SELECT repo FROM (SELECT repo, {} FROM base EXCEPT ALL SELECT 'a', 1)", "[repo]"),
    "a window by name": ("SELECT repo, COUNT(*) OVER w AS n FROM base WINDOW w AS (PARTITION BY {})", "[repo]"),
    "a lateral query": (
        "SELECT f.repo, l.n FROM files AS f, LATERAL (SELECT COUNT(*) AS n FROM base WHERE base.{} = f.size) AS l",
        "[repo]",
    ),
    "a correlated query": (
        "SELECT repo, path FROM files WHERE EXISTS (SELECT 1 FROM base WHERE base.{} = files.size)",
        "[repo, path]",
    ),
}


@pytest.mark.parametrize(("sql", "key"), READING.values(), ids=READING)
def test_whatever_way_a_column_decides_rows_a_change_of_it_is_noticed(sql: str, key: str):
    reader = model_text(sql.replace("{}", "size"), key=key)
    found = changes(
        project(base=BASE, reader=reader), project(base=BASE.replace("size,", "size + 1 AS size,"), reader=reader)
    )
    assert found["reader"] == Change(category="indirect", through=(("base", "size"),))


def test_columns_of_other_tables_are_found_whatever_their_case():
    passengers = TableContract(
        name="passengers",
        description="One row per passenger.",
        columns=(
            Column(name="PassengerId", type="bigint", description="Number."),
            Column(name="Name", type="string", nullable=True, sensitive=True, description="Name."),
        ),
        key=("PassengerId",),
        strategy="upsert",
    )
    known = {"passengers": passengers}
    one = project(known, m=model_text("SELECT PassengerId, name AS called FROM Passengers", key="[passengerid]"))
    other = project(known, m=model_text("SELECT passengerid, `Name` AS called FROM passengers", key="[passengerid]"))
    assert told(one, other) == {}
    assert one.meanings["m"].sensitive == {"called"}
    assert one.meanings["m"].types == {"passengerid": "bigint", "called": "string"}
