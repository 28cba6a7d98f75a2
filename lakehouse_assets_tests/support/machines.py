"""A machine whose user runs the command, and a repository with a history to run it on."""

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lakehouse_assets.core.settings import load_settings
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.command import LAKEHOUSE
from lakehouse_assets_tests.support.repos import RepoBuilder

CART = "from shop.prices import price\n\n\ndef total(items):\n    return sum(price(each) for each in items)\n"

ORDER = "from shop.cart import total\n\n\nclass Order:\n    def due(self):\n        return total(self)\n"


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A home, and the environment of those who work there."""

    home: Path
    environ: dict[str, str] = field(default_factory=dict[str, str])
    said: list[str] = field(default_factory=list[str])

    @property
    def all_environ(self) -> dict[str, str]:
        own = {"LAKEHOUSE_HOME": str(self.home), "LAKEHOUSE_SPARK": "in-process", "LAKEHOUSE_DRIVER_MEMORY_MB": "1024"}
        return own | self.environ

    def run(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        env = os.environ | self.all_environ | more
        done = subprocess.run(
            [str(LAKEHOUSE), *words], env=env, capture_output=True, text=True, timeout=900, check=False
        )
        self.said.append(done.stdout + done.stderr)
        return done

    def told(self, *words: str) -> Any:
        done = self.run(*words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    @property
    def lake(self) -> Lake:
        return Lake(load_settings(self.all_environ).lake)


@dataclass(frozen=True, kw_only=True)
class Shop:
    """A repository with a history; its first commit, and its last."""

    repo: RepoBuilder
    first: str
    last: str


def shop_with_history(folder: Path) -> Shop:
    """A repository of three commits; the last one edits, adds and removes a file."""
    repo = RepoBuilder(folder)
    first = repo.commit(
        {"shop/__init__.py": "", "shop/cart.py": CART, "shop/prices.py": "def price(item):\n    return 1\n"}
    )
    repo.commit({"shop/old.py": "from shop.cart import total\n\nprint(total([]))\n", "util.js": "function f() {}\n"})
    last = repo.commit(
        {
            "shop/old.py": None,
            "shop/prices.py": "# prices\ndef price(item, tax=0):\n    return item.cost + tax\n",
            "shop/order.py": ORDER,
        }
    )
    return Shop(repo=repo, first=first, last=last)


def built(machine: Machine, shop: Shop, **environ: str) -> Machine:
    """Brought to the first commit, then to the last."""
    assert machine.run("repo", "add", "shop", str(shop.repo.path)).returncode == 0, machine.said
    for words in (("sync", "shop", "--to", shop.first), ("sync", "shop")):
        done = machine.run(*words, **environ)
        assert done.returncode == 0, done.stderr
    return machine
