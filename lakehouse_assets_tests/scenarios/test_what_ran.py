"""Which files each asset worked on, edit by edit, with red herrings for which next to nothing may run.

As a user sees it: the table `writes` names the files that a write made anew and why, and the contents that `extracts`
has tell what was extracted.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from lakehouse_assets.contracts.extracts import EXTRACTS
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.core.settings import Settings
from lakehouse_assets_tests.support.graph_lake import GraphLake
from lakehouse_assets_tests.support.repos import Change, Executable, RepoBuilder, registered

CART = "class Cart:\n    def total(self):\n        return 1\n\n\ndef empty():\n    return Cart()\n"
TAX = "RATE = 2\n\n\ndef rate(cart):\n    return cart.total() * RATE\n"
BOTH = """\
from shop.cart import Cart


class Other:
    def total(self):
        return 2


class Both(Cart, Other):
    pass
"""
PROJECT = {
    "shop/__init__.py": "from shop.cart import Cart\n",
    "shop/cart.py": CART,
    "shop/tax.py": TAX,
    "shop/main.py": "from shop.cart import Cart\n\n\ndef run():\n    return Cart().total()\n",
    "shop/show.py": "from shop import Cart\n\n\ndef show():\n    return Cart().total()\n",
    "shop/alone.py": "def alone():\n    return 1\n",
    **{f"shop/page{n}.py": "from shop.tax import RATE\n\n\ndef page():\n    return RATE\n" for n in range(6)},
    "shop/bill.py": "from shop.tax import rate\n\n\ndef bill():\n    return rate(None)\n",
    "README.md": "# Shop\n",
}
PLACED = ("definitions", "nodes", "edges", "props")
PAGES = [f"shop/page{n}.py" for n in range(6)]


class Shop:
    """A repository in a lake, and what each update of it ran."""

    def __init__(self, settings: Settings, path: Path) -> None:
        self.repo = RepoBuilder(path)
        self.repo.commit({**PROJECT})
        self.graph = GraphLake(settings.home, [registered(path, name="shop")])
        self.graph.sync()

    def update(self, changes: dict[str | bytes, Change]) -> dict[str, Any]:
        """Commit and sync. By asset the files it worked on: extracted, linked (with the reason), placed."""
        before = self._extracted()
        self.repo.commit(changes)
        run = self.graph.sync()
        new = self._extracted() - before
        files = self.graph.lake.read(SNAPSHOTS, columns=["path", "blob_sha"]).to_pylist()
        extracted = sorted(row["path"] for row in files if row["blob_sha"] in new)
        assert len(extracted) >= len(new), "something was extracted that the head has not"
        writes = [row for row in self.graph.lake.read(WRITES).to_pylist() if row["run_id"] == run]
        owners = {row["asset"]: json.loads(row["owners"] or "null") for row in writes}
        assert None not in [owners[name] for name in (*PLACED, "links") if name in owners], "made as a whole"
        self.rows = {row["asset"]: row["rows_inserted"] + row["rows_updated"] + row["rows_deleted"] for row in writes}
        told: dict[str, Any] = {"extracts": extracted, "links": owners.get("links")}
        told |= {name: sorted(owners.get(name, ())) for name in PLACED}
        return {name: found for name, found in told.items() if found}

    def _extracted(self) -> set[str]:
        return set(self.graph.lake.read(EXTRACTS, columns=["blob_sha"])["blob_sha"].to_pylist())


@pytest.fixture
def shop(settings: Settings, tmp_path: Path) -> Shop:
    return Shop(settings, tmp_path / "shop")


def placed(*paths: str, also_linked: list[str] | None = None) -> dict[str, list[str]]:
    """All four tables of these files; nodes and edges also of files whose links came out otherwise."""
    wider = sorted({*paths, *(also_linked or ())})
    return {name: wider if name in ("nodes", "edges") else sorted(paths) for name in PLACED}


def test_what_says_nothing_new_links_nothing_and_a_state_seen_before_extracts_nothing(shop: Shop):
    cart = {"extracts": ["shop/cart.py"], **placed("shop/cart.py")}
    assert shop.update({"shop/cart.py": "# A cart.\n" + CART}) == cart
    assert {name for name in ("nodes", "edges", "props", "links") if shop.rows.get(name)} == set()
    assert shop.update({"shop/cart.py": '"""A cart."""\n' + CART}) == cart
    assert shop.update({"shop/cart.py": CART.replace("\n\n\n", "\n\n\n\n")}) == cart
    assert shop.rows["definitions"] > 0 == shop.rows.get("links", 0)

    assert shop.update({"shop/cart.py": CART}) == placed("shop/cart.py")  # as it was at first
    assert shop.update({}) == {}
    assert shop.update({"shop/alone.py": Executable(PROJECT["shop/alone.py"].encode())}) == placed("shop/alone.py")
    assert not any(shop.rows[name] for name in PLACED)
    renamed = {"shop/alone.py": None, "shop/lonely.py": PROJECT["shop/alone.py"]}
    assert shop.update({**renamed}) == {
        "links": {"shop/alone.py": "gone", "shop/lonely.py": "added"},
        **placed("shop/alone.py", "shop/lonely.py"),
    }
    shop.update({"README.md": "# A shop\n"})
    assert not any(shop.rows[name] for name in PLACED)


def test_an_edit_links_those_that_could_resolve_differently_and_no_one_else(shop: Shop):
    read = "read facts of shop/cart.py"
    assert shop.update({"shop/cart.py": CART.replace("return 1", "return 2 + 3")}) == {
        "extracts": ["shop/cart.py"],
        "links": {"shop/cart.py": "edited"},
        **placed("shop/cart.py"),
    }
    # Callers bind their arguments anew; that their links come out equal stops the wave.
    assert shop.update({"shop/cart.py": CART.replace("total(self)", "total(self, cents=0)")}) == {
        "extracts": ["shop/cart.py"],
        "links": {"shop/cart.py": "edited", "shop/main.py": read, "shop/show.py": read},
        **placed("shop/cart.py"),
    }
    # Seven files import from this module; none of them asked for what is new in it.
    assert shop.update({"shop/tax.py": TAX + "\n\ndef other():\n    pass\n"}) == {
        "extracts": ["shop/tax.py"],
        "links": {"shop/tax.py": "edited"},
        **placed("shop/tax.py"),
    }
    read = "read facts of shop/tax.py"
    assert shop.update({"shop/tax.py": TAX.replace("RATE = 2", "from shop.alone import alone as RATE")}) == {
        "extracts": ["shop/tax.py"],
        "links": {"shop/tax.py": "edited", **dict.fromkeys(PAGES, read)},
        **placed("shop/tax.py", also_linked=PAGES),
    }
    assert shop.update({"shop/new.py": "from shop import cart\n\ncart.empty()\n"}) == {
        "extracts": ["shop/new.py"],
        "links": {"shop/new.py": "added"},
        **placed("shop/new.py"),
    }
    assert shop.update({"shop/new.py": "def ("}) == {
        "extracts": ["shop/new.py"],
        "links": {"shop/new.py": "edited"},
        **placed("shop/new.py"),
    }
    importers = ["shop/bill.py", *PAGES]
    assert shop.update({"shop/tax.py": None}) == {
        "links": {"shop/tax.py": "gone", **dict.fromkeys(importers, read)},
        **placed("shop/tax.py", also_linked=importers),
    }


def test_a_move_other_bases_and_other_exports_link_those_who_asked_for_them(shop: Shop):
    files = {
        "shop/new.py": "def (",
        "shop/both.py": BOTH,
        "shop/use.py": "from shop.both import Both\n\n\ndef use():\n    return Both().total()\n",
        "shop/near.py": "from shop.both import Other\n\n\ndef near():\n    return Other().total()\n",
        "shop/star.py": "from shop.tax import *\n\n\ndef star():\n    return rate(RATE)\n",
    }
    shop.update({**files})
    # What was broken is read like any other file when it is whole again.
    new = "from shop.cart import empty\n\n\ndef new():\n    return empty()\n"
    assert shop.update({"shop/new.py": new}) == {
        "extracts": ["shop/new.py"],
        "links": {"shop/new.py": "edited"},
        **placed("shop/new.py"),
    }
    # Of four files that import from shop/cart.py one asked for the function that moved.
    cart, function = CART.split("\n\n\n")
    alone = PROJECT["shop/alone.py"] + "\n\n" + function
    assert shop.update({"shop/cart.py": cart + "\n", "shop/alone.py": alone}) == {
        "extracts": ["shop/alone.py", "shop/cart.py"],
        "links": {"shop/alone.py": "edited", "shop/cart.py": "edited", "shop/new.py": "read facts of shop/cart.py"},
        **placed("shop/alone.py", "shop/cart.py", also_linked=["shop/new.py"]),
    }
    # What was called as the first base's is the second's; who asks for the other class alone sees no difference.
    assert shop.update({"shop/both.py": BOTH.replace("Cart, Other", "Other, Cart")}) == {
        "extracts": ["shop/both.py"],
        "links": {
            "shop/both.py": "edited",
            "shop/cart.py": "was told p shop/cart.py Cart#total(). self",
            "shop/use.py": "read facts of shop/both.py",
        },
        **placed("shop/both.py", also_linked=["shop/use.py"]),
    }
    # Seven files import from this module by name, and one what its __all__ says.
    assert shop.update({"shop/tax.py": "__all__ = ['RATE']\n" + TAX}) == {
        "extracts": ["shop/tax.py"],
        "links": {"shop/tax.py": "edited", "shop/star.py": "read facts of shop/tax.py"},
        **placed("shop/tax.py", also_linked=["shop/star.py"]),
    }
    # Who imports the class from its own module does not see what the package calls by its name.
    assert shop.update({"shop/__init__.py": "from shop.both import Both as Cart\n"}) == {
        "extracts": ["shop/__init__.py"],
        "links": {"shop/__init__.py": "edited", "shop/show.py": "read facts of shop/__init__.py"},
        **placed("shop/__init__.py", also_linked=["shop/show.py"]),
    }
    importers = ["shop/bill.py", *PAGES, "shop/star.py"]
    assert shop.update({"shop/tax.py": None, "shop/levy.py": "__all__ = ['RATE']\n" + TAX}) == {
        "links": {
            "shop/tax.py": "gone",
            "shop/levy.py": "added",
            **dict.fromkeys(importers, "read facts of shop/tax.py"),
        },
        **placed("shop/tax.py", "shop/levy.py", also_linked=importers),
    }
