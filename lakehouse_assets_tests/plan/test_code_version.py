"""A code version is what the code means."""

import sys
import textwrap
from pathlib import Path

import pytest

from lakehouse_assets.plan import code_version as module
from lakehouse_assets.plan.code_version import code_version, normalized_source

BEFORE = """
def f(x):
    return x + 1
"""


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


@pytest.mark.parametrize("after", ["def f(x):\n    return x + 2\n", "def f(y):\n    return y + 1\n"])
def test_what_is_computed_and_how_it_is_called_mean_something(after):
    assert normalized_source(after) != normalized_source(BEFORE)


def test_a_change_in_a_module_that_is_reached_changes_the_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    package = tmp_path / "lakehouse_assets_sample"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "helper.py").write_text("def helper():\n    return 1\n")
    (package / "unrelated.py").write_text("def unrelated():\n    return 1\n")
    (package / "top.py").write_text(
        textwrap.dedent(
            """
            from lakehouse_assets_sample.helper import helper

            def top():
                return helper()
            """
        )
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(module, "_PROJECT", "lakehouse_assets_sample")
    from lakehouse_assets_sample.top import top  # pyright: ignore[reportMissingImports]

    def version_now() -> str:
        module._read.cache_clear()
        return code_version(top)

    before = version_now()
    (package / "unrelated.py").write_text("def unrelated():\n    return 2\n")
    assert version_now() == before
    (package / "helper.py").write_text("# a comment\ndef helper():\n    return 1\n")
    assert version_now() == before
    (package / "helper.py").write_text("def helper():\n    return 2\n")
    assert version_now() != before
    version_now()
    del sys.modules["lakehouse_assets_sample.top"]


def test_libraries_data_and_parameters_are_part_of_it(tmp_path: Path):
    data = tmp_path / "data.toml"
    data.write_text("a = 1")
    plain = code_version(normalized_source)
    assert code_version(normalized_source, libraries=["pygit2"]) != plain
    assert code_version(normalized_source, parameters=["contract"]) != plain
    with_data = code_version(normalized_source, data_files=[data])
    data.write_text("a = 2")
    assert code_version(normalized_source, data_files=[data]) != with_data
