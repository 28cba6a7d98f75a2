"""A code version is what the code means: of the function and of all that it reaches, and of nothing else."""

import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.hashing import fingerprint
from lakehouse_assets.plan import source_project
from lakehouse_assets.plan.code_version import code_version, meaning_parts, reached
from lakehouse_assets.plan.source_project import Project
from lakehouse_assets.plan.source_text import normalized_source

BEFORE = """
def f(x):
    return x + 1
"""

SAMPLE = {
    "__init__.py": '"""A sample."""\n',
    "top.py": """
        from functools import cache
        from typing import TYPE_CHECKING

        from sample import shapes
        from sample.helper import LIMIT, helper as helping

        if TYPE_CHECKING:
            from sample.shapes import Square

        FACTOR = 2
        _names: dict[str, int] = {}
        _names["one"] = 1

        def top(square: "Square"):
            return helping(square) * FACTOR + shapes.area(square) + _names["one"]

        @cache
        def other():
            return LIMIT

        def inner_import():
            from sample.helper import far
            return far()
    """,
    "helper.py": """
        from sample.chain import link

        LIMIT = 10

        def helper(x):
            return link(x)

        def far():
            return 1

        def unrelated():
            return 2
    """,
    "chain.py": """
        def link(x):
            return x
    """,
    "shapes.py": """
        class Square:
            def side(self):
                return width(self)

            def name(self):
                return "square"

        def width(square):
            return 1

        def area(square):
            return square.side() ** 2

        def volume(square):
            return 0
    """,
}

Edit = tuple[str, str, str]


class Sample:
    """A package of its own whose files can be edited; each question is asked as a new process would."""

    def __init__(self, folder: Path, files: dict[str, str]) -> None:
        self.folder = folder / "sample"
        self.folder.mkdir()
        for name, text in files.items():
            (self.folder / name).write_text(textwrap.dedent(text))

    def version(self, module: str, name: str) -> str:
        return fingerprint(meaning_parts(Project("sample", self.folder), [(f"sample.{module}", name)]))

    def reached(self, module: str, name: str) -> set[tuple[str, str]]:
        return reached(Project("sample", self.folder), [(f"sample.{module}", name)])

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.folder / name).read_text()
        assert old in text
        (self.folder / name).write_text(text.replace(old, new))


@pytest.fixture
def make(tmp_path: Path) -> Callable[[dict[str, str]], Sample]:
    return lambda files: Sample(tmp_path, {"__init__.py": "", **files})


@pytest.fixture
def sample(tmp_path: Path) -> Sample:
    return Sample(tmp_path, SAMPLE)


@pytest.mark.parametrize(
    "after",
    [
        '"""A docstring."""\ndef f(x):\n    return x + 1\n',
        'def f(x):\n    """One."""\n    # why\n    return (x\n            + 1)\n',
        "def f( x ) : return x+1\n",
    ],
)
def test_comments_docstrings_and_layout_mean_nothing(after):
    assert normalized_source(after) == normalized_source(BEFORE)


@pytest.mark.parametrize(
    "after",
    [
        "def f(x):\n    return x + 2\n",
        "def f(y):\n    return y + 1\n",
        "def f(x: int):\n    return x + 1\n",
        "def f(x) -> int:\n    return x + 1\n",
        "async def f(x):\n    return x + 1\n",
        "def f(x=1):\n    return x + 1\n",
    ],
)
def test_what_is_computed_and_how_it_is_called_mean_something(after):
    assert normalized_source(after) != normalized_source(BEFORE)


@pytest.mark.parametrize(("left", "right"), [("x = ['ab', 'c']", "x = ['a', 'bc']"), ("x = 1", "x = '1'")])
def test_values_that_look_alike_are_told_apart(left, right):
    assert normalized_source(left) != normalized_source(right)


def test_a_contract_s_descriptions_mean_nothing_and_its_types_do():
    before = "T = TableContract(name='t', description='one', columns=(Column(name='a', type='int', description='x'),))"
    assert normalized_source(before.replace("'one'", "'two'").replace("'x'", "'y'")) == normalized_source(before)
    assert normalized_source(before.replace("'int'", "'bigint'")) != normalized_source(before)
    other = "t = Thing(description='one')"
    assert normalized_source(other.replace("one", "two")) != normalized_source(other)


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(("top.py", "FACTOR = 2", "FACTOR = 3"), id="a constant it uses"),
        pytest.param(("chain.py", "return x", "return -x"), id="a function behind a function"),
        pytest.param(("shapes.py", "** 2", "** 3"), id="a function taken from a module it imports"),
        pytest.param(("shapes.py", "return 1", "return 2"), id="a function that a method of an annotation calls"),
        pytest.param(("shapes.py", '"square"', '"box"'), id="another method of a class it reaches"),
        pytest.param(("top.py", '_names["one"] = 1', '_names["one"] = 2'), id="a value put into a constant later"),
        pytest.param(("helper.py", "from sample.chain", "from elsewhere"), id="where a name is imported from"),
        pytest.param(("helper.py", "LIMIT = 10", "import os\nos.umask(0)\nLIMIT = 10"), id="what a module does"),
        pytest.param(("__init__.py", '"""A sample."""', "print(1)"), id="what the package around it does"),
    ],
)
def test_a_change_in_what_it_reaches_changes_the_version(sample: Sample, edit: Edit):
    before = sample.version("top", "top")
    sample.edit(*edit)
    assert sample.version("top", "top") != before


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(("helper.py", "return 2", "return 3"), id="another function of a module it reaches"),
        pytest.param(("helper.py", "LIMIT = 10", "LIMIT = 11"), id="a constant that its module imports for another"),
        pytest.param(("shapes.py", "return 0", "return 9"), id="a function of a module that it takes another from"),
        pytest.param(("top.py", "return LIMIT", "return LIMIT + 1"), id="another function of its own module"),
        pytest.param(("top.py", "@cache", "NEW = 1\n\n@cache"), id="a new name"),
        pytest.param(("chain.py", "def link", "# why\ndef link"), id="a comment"),
        pytest.param(("chain.py", "return x", '"""Why."""\n    return (x)'), id="a docstring and a reformat"),
        pytest.param(("__init__.py", "A sample", "An example"), id="the package's docstring"),
        pytest.param(("helper.py", "def far", "if __name__ == '__main__':\n    far()\ndef far"), id="a program part"),
    ],
)
def test_a_change_elsewhere_changes_nothing(sample: Sample, edit: Edit):
    before = sample.version("top", "top")
    sample.edit(*edit)
    assert sample.version("top", "top") == before


def test_the_order_of_functions_means_nothing(sample: Sample):
    before = sample.version("top", "other")
    text = (sample.folder / "helper.py").read_text()
    head, tail = text.split("def far", 1)
    (sample.folder / "helper.py").write_text("def far" + tail + "\n" + head)
    assert sample.version("top", "other") == before


def test_the_same_call_of_another_library_means_something_else(make):
    sample = make({"a.py": "from json import dumps\n\ndef f(x):\n    return dumps(x)\n"})
    before = sample.version("a", "f")
    sample.edit("a.py", "json", "marshal")
    assert sample.version("a", "f") != before


def test_an_import_inside_a_function_is_followed(sample: Sample):
    assert ("sample.helper", "far") in sample.reached("top", "inner_import")
    assert ("sample.helper", "helper") not in sample.reached("top", "inner_import")


def test_a_module_used_as_a_value_counts_as_a_whole(make):
    files = {"a.py": "from sample import b\n\ndef f(x):\n    return getattr(b, x)\n", "b.py": "ONE = 1\nTWO = 2\n"}
    assert {("sample.b", "ONE"), ("sample.b", "TWO")} <= make(files).reached("a", "f")


def test_looking_names_up_by_text_counts_the_whole_module(make):
    sample = make({"a.py": "ONE = 1\n\ndef f(x):\n    return globals()[x]\n"})
    assert ("sample.a", "ONE") in sample.reached("a", "f")


def test_a_name_that_nothing_binds_counts_the_whole_module(make):
    sample = make({"a.py": "from sample.b import odd\n\ndef f():\n    return odd\n", "b.py": "ONE = 1\n"})
    assert ("sample.b", "ONE") in sample.reached("a", "f")


def test_names_are_followed_through_stars_aliases_and_dotted_imports(make):
    sample = make(
        {
            "a.py": "import sample.b\nimport sample.c as see\nfrom sample.d import *\nfrom . import e\n\n"
            "def f():\n    return sample.b.one() + see.two() + three() + e.four()\n",
            "b.py": "def one(): return 1\ndef not_one(): return 1\n",
            "c.py": "def two(): return 2\n",
            "d.py": "def three(): return 3\ndef not_three(): return 3\n",
            "e.py": "def four(): return 4\n",
        }
    )
    names = {name for _, name in sample.reached("a", "f")}
    assert {"one", "two", "three", "four"} <= names
    assert names.isdisjoint({"not_one", "not_three"})


STEP = """RelationalStep(name="who", inputs=over(), sql='''
    SELECT path, count(*) AS calls FROM {edges} WHERE kind = 'CALL' GROUP BY path''')"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SELECT path, count(*)", "SELECT path,\n      count(*)"),
        ("SELECT path", "-- who is called how often\n  SELECT path"),
        ("SELECT path", "select (path)"),
        ("AS calls FROM {edges}", "as Calls from {edges}"),
        ("kind = 'CALL'", "(kind = 'CALL')"),
    ],
)
def test_a_step_s_sql_counts_as_what_it_means(make, old: str, new: str):
    sample = make({"a.py": f"WHO = {STEP}\n\ndef f(engine):\n    return engine.keep(WHO)\n"})
    before = sample.version("a", "f")
    sample.edit("a.py", old, new)
    assert sample.version("a", "f") == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("'CALL'", "'IMPORT'"),
        ("count(*)", "count(path)"),
        ("AS calls", "AS callers"),
        ("{edges}", "{links}"),
        ("GROUP BY path", "GROUP BY path HAVING count(*) > 1"),
        ('name="who"', 'name="whom"'),
    ],
)
def test_a_step_that_means_something_else_is_another(make, old: str, new: str):
    sample = make({"a.py": f"WHO = {STEP}\n\ndef f(engine):\n    return engine.keep(WHO)\n"})
    before = sample.version("a", "f")
    sample.edit("a.py", old, new)
    assert sample.version("a", "f") != before


def test_sql_outside_a_step_counts_as_text(make):
    sample = make({"a.py": "WHO = 'SELECT path FROM edges'\n\ndef f(engine):\n    return engine.keep(WHO)\n"})
    before = sample.version("a", "f")
    sample.edit("a.py", "path FROM", "path  FROM")
    assert sample.version("a", "f") != before


def test_what_registers_itself_with_a_function_is_part_of_it(make):
    sample = make(
        {
            "a.py": "from functools import singledispatch\n\n@singledispatch\ndef show(x):\n    return 1\n\n"
            "@show.register\ndef _(x: int):\n    return 2\n"
        }
    )
    before = sample.version("a", "show")
    sample.edit("a.py", "return 2", "return 3")
    assert sample.version("a", "show") != before


def test_whoever_sets_a_global_is_part_of_it(make):
    sample = make(
        {"a.py": "_kept = None\n\ndef keep():\n    global _kept\n    _kept = 1\n\ndef f():\n    return _kept\n"}
    )
    before = sample.version("a", "f")
    sample.edit("a.py", "_kept = 1", "_kept = 2")
    assert sample.version("a", "f") != before


def test_names_that_lead_in_circles_end(make):
    sample = make(
        {
            "a.py": "from sample.b import *\n\ndef f(n):\n    return g(n - 1)\n",
            "b.py": "from sample.a import *\n\ndef g(n):\n    return f(n) if n else missing\n",
        }
    )
    assert {("sample.a", "f"), ("sample.b", "g")} <= sample.reached("a", "f")


def kept_file(sample: Sample) -> Path:
    (file,) = (sample.folder / "__pycache__").glob("*.meanings")
    return file


def test_what_was_kept_is_used_while_the_sources_are_the_same(sample: Sample, monkeypatch: pytest.MonkeyPatch):
    before = sample.version("top", "top")
    monkeypatch.setattr(source_project, "index_module", None)
    assert sample.version("top", "top") == before
    sample.edit("chain.py", "return x", "return -x")
    with pytest.raises(TypeError):
        sample.version("top", "top")


def test_what_was_kept_makes_no_difference(sample: Sample):
    before = sample.version("top", "top")
    kept_file(sample).unlink()
    assert sample.version("top", "top") == before


@pytest.mark.parametrize("content", [b"", b"not a cache", b"\xff" * 40])
def test_a_damaged_file_of_what_was_kept_is_made_anew(sample: Sample, content: bytes):
    before = sample.version("top", "top")
    kept_file(sample).write_bytes(content)
    assert sample.version("top", "top") == before
    assert len(kept_file(sample).read_bytes()) > len(content)


def test_it_is_kept_also_where_the_interpreter_keeps_no_compiled_code(sample: Sample, monkeypatch: pytest.MonkeyPatch):
    """Images of containers are told so for their size; the time of every start would be the price."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    sample.version("top", "top")
    assert kept_file(sample).exists()


def test_a_method_s_class_counts_as_a_whole():
    assert code_version(Project.index) == code_version(Project)


def test_code_of_others_has_no_version_here():
    with pytest.raises(BadInputError, match="not defined at the top of a module of lakehouse_assets"):
        code_version(textwrap.dedent)


def test_libraries_data_and_parameters_are_part_of_it(tmp_path: Path):
    data = tmp_path / "data.toml"
    data.write_text("a = 1")
    plain = code_version(normalized_source)
    assert code_version(normalized_source, libraries=["pygit2"]) != plain
    assert code_version(normalized_source, parameters=["contract"]) != plain
    with_data = code_version(normalized_source, data_files=[data])
    data.write_text("a = 2")
    assert code_version(normalized_source, data_files=[data]) != with_data


def test_asking_again_costs_next_to_nothing():
    code_version(code_version)
    started = time.process_time()
    for _ in range(20):
        code_version(code_version)
    assert time.process_time() - started < 0.2
