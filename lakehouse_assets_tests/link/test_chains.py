"""How long a chain is that names go along is up to the repository, and none is too long to follow."""

import sys

import pytest

from lakehouse_assets_tests.support.linked import Linked

END = {"end.py": "def f(): ...\n"}


def _stars(length: int) -> dict[str, str]:
    return {f"m{i}.py": f"from m{i + 1} import *\n" for i in range(length)} | {f"m{length}.py": "from end import f\n"}


def _re_exports(length: int) -> dict[str, str]:
    return {f"m{i}.py": f"from m{i + 1} import f\n" for i in range(length)} | {f"m{length}.py": "from end import f\n"}


def _aliases(length: int) -> dict[str, str]:
    lines = ["from end import f as f0", *(f"f{i} = f{i - 1}" for i in range(1, length)), f"f = f{length - 1}"]
    return {"m0.py": "\n".join(lines)}


def _aliases_backwards(length: int) -> dict[str, str]:
    lines = ["f = f0", *(f"f{i} = f{i + 1}" for i in range(length)), f"from end import f as f{length}"]
    return {"m0.py": "\n".join(lines)}


@pytest.mark.parametrize(
    "between",
    [_stars(350), _re_exports(350), _aliases(3_000), _aliases_backwards(3_000)],
    ids=["stars", "re-exports", "aliases", "aliases that come before what they name"],
)
def test_a_long_chain_of_names_leads_to_its_end(between: dict[str, str]):
    linked = Linked({"user.py": "from m0 import f\nf()\n"} | between | END)
    assert ("`user.py`/", "`end.py`/f().") in {(a, b) for a, b, *_ in linked.links("CALL")}


def test_a_long_line_of_subclasses_inherits_from_its_beginning():
    length = 1_500
    classes = ["class C0:\n    def f(self): ...", *(f"class C{i}(C{i - 1}): ..." for i in range(1, length))]
    linked = Linked({"m.py": "\n".join([*classes, f"C{length - 1}().f()"])})
    assert ("`m.py`/", "`m.py`/C0#f().") in {(a, b) for a, b, *_ in linked.links("CALL")}


def test_linking_leaves_the_limit_on_calls_as_it_was():
    before = sys.getrecursionlimit()
    Linked(END)
    assert sys.getrecursionlimit() == before
