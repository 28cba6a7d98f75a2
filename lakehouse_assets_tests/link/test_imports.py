"""Where imports land, within a repository, beside it and outside."""

from collections.abc import Mapping, Sequence
from typing import Any

from lakehouse_assets.link.local import Sources
from lakehouse_assets.link.modules import ModuleIndex
from lakehouse_assets_tests.support.linked import Linked, rows, state_of


class Beside:
    """Other repositories, held in memory."""

    def __init__(self, repos: Mapping[str, Mapping[str, str]]) -> None:
        self.sources = {repo: Sources(files) for repo, files in repos.items()}

    def offering(self, top: str) -> Sequence[str]:
        return [repo for repo in sorted(self.sources) if ModuleIndex(self.paths(repo)).offered(top) is not None]

    def may_differ(self, repo: str) -> bool:
        return True

    def paths(self, repo: str) -> Sequence[str]:
        return sorted(self.sources[repo].blobs)

    def load(self, repo: str, paths: Sequence[str]) -> Mapping[str, dict[str, Any]]:
        return self.sources[repo].load(paths)


def test_an_import_says_where_it_lands():
    found = Linked(
        {
            "src/app/__init__.py": "from .core import run",
            "src/app/core.py": "def run(): pass\nLIMIT = 3",
            "main.py": "import os.path\nimport numpy as np\nimport app\nfrom app import run, core, nothing\n"
            "from app.core import LIMIT\nfrom os import getcwd",
        }
    ).imports("main.py")
    assert found["os.path"] == ("standard_library", "os.path", None)
    assert found["numpy"] == ("third_party", "numpy", None)
    assert found["app"] == ("first_party", "app", "src/app/__init__.py")
    assert found["run"] == ("first_party", "app", "src/app/core.py")
    assert found["core"] == ("first_party", "app", "src/app/core.py")
    assert found["nothing"] == ("unresolved", "app", None)
    assert found["LIMIT"] == ("first_party", "app.core", "src/app/core.py")
    assert found["getcwd"] == ("standard_library", "os", None)


def test_what_a_module_has_from_outside_is_outside_for_its_importers_too():
    found = Linked({"a.py": "from json import dumps\nimport yaml", "b.py": "from a import dumps, yaml\ndumps()"})
    assert found.imports("b.py")["dumps"][0] == "standard_library"
    assert found.imports("b.py")["yaml"][0] == "third_party"
    assert found.calls("b") == {"json.dumps"}


def test_a_dotted_import_binds_the_top_and_reaches_below():
    found = Linked({"a/__init__.py": "", "a/b.py": "def go(): pass", "main.py": "import a.b\na.b.go()"})
    assert found.calls("main") == {"a.b.go"}


def test_the_later_of_two_stars_wins():
    found = Linked(
        {
            "one.py": "def go(): pass",
            "two.py": "def go(): pass",
            "main.py": "from one import *\nfrom two import *\ngo()",
        }
    )
    assert found.calls("main") == {"two.go"}


def test_stars_that_import_each_other_end():
    found = Linked(
        {
            "one.py": "from two import *\ndef a(): pass",
            "two.py": "from one import *\ndef b(): pass",
            "main.py": "from one import *\na()\nb()\nlen()",
        }
    )
    assert found.calls("main") == {"one.a", "two.b", "<builtin>.len"}
    assert set(found.exports("one.py")) == {"a", "b"}


def test_a_star_export_is_said_to_be_one():
    found = Linked({"lib.py": "def go(): pass\n_x = 1", "main.py": "from lib import *"})
    assert found.exports("main.py") == {"go": ("definition", "lib.py", "star")}
    assert set(found.exports("lib.py")) == {"go"}


OTHER = {"src/lib/__init__.py": "from .core import Job", "src/lib/core.py": "class Job:\n    def run(self): pass"}
MAIN = {"main.py": "import lib\njob = lib.Job()\njob.run()\n"}


def test_a_call_leads_into_another_repository():
    found = Linked(MAIN, neighbours=Beside({"other": OTHER}))
    assert found.imports("main.py")["lib"] == ("other_repository", "lib", "src/lib/__init__.py")
    there = {(target, method) for _, target, _, method, _ in found.links("CALL")}
    assert there == {("other:src/lib/core.py", "module"), ("other:src/lib/core.py", "instance")}


def test_a_change_in_another_repository_relinks_those_who_read_it():
    before = Linked(MAIN, neighbours=Beside({"other": OTHER}))
    state = state_of(before.result)
    same = Linked(MAIN, previous=state, neighbours=Beside({"other": OTHER}))
    assert same.result.relinked == {}
    changed = Beside({"other": {**OTHER, "src/lib/__init__.py": "class Job:\n    def run(self): pass"}})
    after = Linked(MAIN, previous=state, neighbours=changed)
    assert set(after.result.relinked) == {"main.py"}
    assert rows(after.result)["links"] == rows(Linked(MAIN, neighbours=changed).result)["links"]


def test_an_own_module_comes_before_another_repositorys():
    found = Linked({**MAIN, "lib.py": "class Job:\n    def run(self): pass"}, neighbours=Beside({"other": OTHER}))
    assert found.imports("main.py")["lib"] == ("first_party", "lib", "lib.py")
