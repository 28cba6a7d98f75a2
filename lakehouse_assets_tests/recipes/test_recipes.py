"""What a recipe declares is what Dagster shows, and what a run really reads."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from dagster import AssetKey, AssetsDefinition

from lakehouse_assets.assets.column_lineage import lineage_into
from lakehouse_assets.assets.partitions import MONTHS, REPOSITORY_PARTITIONS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.definitions import defs
from lakehouse_assets.recipes import extractors
from lakehouse_assets.recipes.catalog import RECIPES
from lakehouse_assets.recipes.recipe import Recipe
from lakehouse_assets_tests.support.graph_lake import GraphLake
from lakehouse_assets_tests.support.opened_files import opened_in
from lakehouse_assets_tests.support.repos import FIRST_COMMIT_AT, RepoBuilder, registered

GRAPH = defs.resolve_asset_graph()
MONTH = f"{datetime.fromtimestamp(FIRST_COMMIT_AT, UTC):%Y-%m-01}"
TEXT = "".join(f"def number_{n}():\n    return {n}\n\n\n" for n in range(20))
PARTITIONS = {"repository": REPOSITORY_PARTITIONS, "month": MONTHS}


@pytest.fixture(params=RECIPES.values(), ids=lambda recipe: recipe.name)
def recipe(request: pytest.FixtureRequest) -> Recipe:
    return request.param


def names(tables: Iterable[TableContract]) -> set[str]:
    return {each.name for each in tables}


def test_every_table_of_the_code_graph_has_a_recipe_in_the_order_of_the_data_s_way():
    groups = {recipe.group for recipe in RECIPES.values()}
    assert set(RECIPES) == {node.key.path[-1] for node in GRAPH.asset_nodes if node.group_name in groups}
    seen: set[str] = set()
    for recipe in RECIPES.values():
        assert names(recipe.deps) <= seen
        seen.add(recipe.name)


def test_the_asset_is_as_its_recipe_says(recipe: Recipe):
    node = GRAPH.get(AssetKey(recipe.name))
    assert {key.path[-1] for key in node.parent_keys} == names(recipe.deps)
    assert node.kinds == recipe.kinds
    assert node.code_version == recipe.code_version
    assert node.description == recipe.contract.description
    assert node.partitions_def == PARTITIONS[recipe.partitions]
    assert ("spark" in recipe.kinds) == ("spark" in node.assets_def.op.required_resource_keys)


def test_columns_come_from_tables_that_are_read(recipe: Recipe):
    sources = {source.relation for found in lineage_into(recipe.contract).values() for source in found}
    assert sources <= names((*recipe.deps, *recipe.past, recipe.contract))


class Traced:
    """A lake whose steps tell which tables' data files they open, those that they write apart."""

    def __init__(self, settings: Settings, shop: RepoBuilder, till: RepoBuilder) -> None:
        repositories = [registered(shop.path, name="shop"), registered(till.path, name="till")]
        self.lake = GraphLake(settings.home, repositories)
        self.lake.around = self._traced
        self.opened: dict[str, set[str]] = {}

    @contextmanager
    def _traced(self, asset: AssetsDefinition) -> Iterator[None]:
        root = self.lake.lake.root
        assert isinstance(root, Path)
        root.mkdir(parents=True, exist_ok=True)
        with opened_in(root) as files:
            yield
        own = {key.path[-1] for key in asset.keys}
        places = [path.relative_to(root).parts for path in files if path.suffix == ".parquet"]
        tables = {parts[0] for parts in places if "_delta_log" not in parts}
        self.opened.setdefault(asset.op.name, set()).update((tables & RECIPES.keys()) - own)


@pytest.fixture
def other_extractor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    def forget() -> None:
        extractors.extractors.cache_clear()
        for recipe in RECIPES.values():
            vars(recipe).pop("code_version", None)
            vars(recipe).pop("derivation", None)

    def change() -> None:
        monkeypatch.setattr(extractors, "extractor_version", lambda language: f"another of {language}")
        forget()

    yield change
    monkeypatch.undo()
    forget()


def test_a_run_opens_the_tables_that_the_recipes_name_and_no_others(
    settings: Settings, tmp_path: Path, other_extractor: Callable[[], None]
):
    till = RepoBuilder(tmp_path / "till")
    till.commit({"till/__init__.py": "def ring():\n    return 1\n"})
    shop = RepoBuilder(tmp_path / "shop")
    shop.commit(
        {
            "shop/__init__.py": "",
            "shop/cart.py": "import till\n\n\nclass Cart:\n    def total(self):\n        return till.ring()\n",
            "shop/main.py": "from shop.cart import Cart\n\n\ndef run():\n    return Cart().total()\n",
            "shop/old.py": TEXT,
        }
    )
    traced = Traced(settings, shop, till)
    traced.lake.sync()
    cart = "import till\n\n\nclass Cart:\n    def total(self, much):\n        return till.ring()\n"
    shop.commit({"shop/cart.py": cart, "shop/old.py": None, "shop/new.py": f"{TEXT}last = 1\n"})
    traced.lake.sync()  # a renamed file, whose texts are compared, and what an update reads of the past
    traced.lake.make("impact")
    for name in ("commit_files", "commit_activity", "churn"):
        traced.lake.make(name, partitions=[MONTH])
    other_extractor()
    shop.commit({"shop/new.py": TEXT})
    traced.lake.sync()  # the definitions before the update are read again, by the present extractor

    declared: dict[str, set[str]] = {}
    untouched: set[str] = set()
    for recipe in RECIPES.values():
        read = () if recipe.tells_versions else recipe.inputs
        declared.setdefault(recipe.step, set()).update(names((*read, *recipe.also, *recipe.past)))
        untouched |= {recipe.step} if recipe.tells_versions else set()
    for step in untouched:  # what it publishes is looked at only as far as its tables have to fit each other
        assert traced.opened[step] <= declared[step] | names(RECIPES[step].inputs)
        assert declared[step] <= traced.opened[step]
    assert {step: opened for step, opened in traced.opened.items() if step not in untouched} == {
        step: tables for step, tables in declared.items() if step not in untouched
    }
