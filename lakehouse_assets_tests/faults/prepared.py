"""Lakes to do harm to: one at the first commit of a repository that has a second, and a clean one at the second."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from lakehouse_assets.lake.comparison import compare
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.recipes.catalog import HEAD_TABLES
from lakehouse_assets_tests.support.command import lakehouse
from lakehouse_assets_tests.support.repos import RepoBuilder

BASE = "class Base:\n    def go(self):\n        return helper()\n\n\ndef helper():\n    return 1\n"
BEFORE = {
    "shop/__init__.py": "from shop.base import Base\n",
    "shop/base.py": BASE,
    "shop/cart.py": "from shop import Base\n\n\nclass Cart(Base):\n    pass\n",
    "shop/main.py": "from shop.cart import Cart\n\n\ndef run():\n    return Cart().go()\n",
    "shop/old.py": "from shop.base import helper\n\nhelper()\n",
}
AFTER = {
    "shop/base.py": "# Renamed.\n" + BASE.replace("helper", "help_out"),
    "shop/cart.py": "from shop import Base\n\n\nclass Cart(Base):\n    def go(self):\n        return super().go()\n",
    "shop/old.py": None,
    "shop/new.py": "from shop.main import run\n\nrun()\n",
}


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """`first` is a home whose lake is one commit behind its repository."""

    first: Path
    clean: Lake


@contextmanager
def prepared_lakes(folder: Path) -> Generator[Prepared, None, None]:
    shop = RepoBuilder(folder / "shop")
    first = shop.commit({**BEFORE})
    second = shop.commit({**AFTER})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAKEHOUSE_ENGINE", "local")
        patch.delenv("DAGSTER_HOME", raising=False)
        for home, commit in (("first", first), ("clean", second)):
            patch.setenv("LAKEHOUSE_HOME", str(folder / home))
            lakehouse("repo", "add", "shop", str(shop.path))
            assert lakehouse("sync", "shop", "--to", commit).exit_code == 0
        yield Prepared(first=folder / "first", clean=Lake(folder / "clean" / "lake"))


def differences(lake: Lake, clean: Lake) -> dict[str, int]:
    """Rows of the head's tables that are lacking, and those that a clean build has not."""
    found = [compare(lake, clean, contract, "shop") for contract in HEAD_TABLES]
    return {"lost": sum(each.lacking for each in found), "doubled": sum(each.surplus for each in found)}
