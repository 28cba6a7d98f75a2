"""Paths to modules."""

import pytest

from lakehouse_assets.link.modules import ModuleIndex, candidates, relative_folder
from lakehouse_assets_tests.support.linked import Linked, state_of


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("main.py", "main"),
        ("pkg/__init__.py", "pkg"),
        ("pkg/sub/mod.py", "pkg.sub.mod"),
        ("src/app/__init__.py", "app"),
        ("src/app/views.py", "app.views"),
        ("libs/one/src/one/__init__.py", "one"),
        ("scripts/run.py", "scripts.run"),
        ("__init__.py", "__init__"),
    ],
)
def test_a_file_is_called_as_it_would_be_imported(path: str, name: str):
    paths = ["main.py", "pkg/__init__.py", "pkg/sub/__init__.py", "pkg/sub/mod.py", "src/app/__init__.py"]
    paths += ["src/app/views.py", "libs/one/src/one/__init__.py", "scripts/run.py", "__init__.py"]
    assert ModuleIndex(paths).name_of(path) == name


def names_of(paths: list[str], path: str) -> set[str]:
    rows = ModuleIndex(paths).rows()
    return {module for at, module in zip(rows.path, rows.module, strict=True) if at == path}


def test_a_file_answers_to_its_name_from_every_root_above_it():
    paths = ["tests/admin/__init__.py", "tests/admin/models.py", "tests/run.py"]
    assert names_of(paths, "tests/admin/models.py") == {"tests.admin.models", "admin.models"}
    assert names_of(paths, "tests/run.py") == {"tests.run", "run"}


def test_every_file_has_one_name_of_its_own():
    rows = ModuleIndex(["a/__init__.py", "a/b.py", "src/c/__init__.py", "src/c/d.py"]).rows()
    own = [path for path, is_own in zip(rows.path, rows.is_own, strict=True) if is_own]
    assert sorted(own) == sorted(set(rows.path))


def test_a_package_comes_before_a_module_and_a_stub_last():
    assert ModuleIndex(["a.py", "a/__init__.py", "a.pyi"]).at["a"] == "a/__init__.py"
    assert ModuleIndex(["a.py", "a.pyi"]).at["a"] == "a.py"
    assert ModuleIndex(["a.pyi", "a/b.py"]).at["a"] == "a.pyi"


def test_a_folder_without_init_is_a_namespace_package():
    index = ModuleIndex(["space/one.py"])
    assert index.at["space"] == "space/"
    assert candidates("space", index.top.get("space", ()), "main.py") == ["space/"]


def test_the_nearest_root_comes_first():
    index = ModuleIndex(["util.py", "tools/util.py", "tools/run.py"])
    assert candidates("util", index.top.get("util", ()), "tools/run.py") == ["tools/util.py", "util.py"]
    assert candidates("util", index.top.get("util", ()), "main.py") == ["util.py"]


def test_a_folder_named_like_a_standard_module_does_not_hide_it():
    index = ModuleIndex(["logging/setup.py", "tests/http/__init__.py"])
    assert candidates("logging", index.top.get("logging", ()), "main.py") == []
    assert candidates("http", index.top.get("http", ()), "main.py") == []
    assert candidates("http", index.top.get("http", ()), "tests/test_it.py") == ["tests/http/__init__.py"]


def test_relative_imports_end_at_the_top():
    assert relative_folder("a/b/c.py", 1) == "a/b"
    assert relative_folder("a/b/c.py", 3) == ""
    assert relative_folder("a/b/c.py", 4) is None


def test_an_edit_of_a_pyw_module_relinks_its_importers():
    user = {"user.py": "import window\nwindow.show()\n"}
    before = Linked({**user, "window.pyw": "def show(): ...\n"})
    after = Linked({**user, "window.pyw": "def hide(): ...\n"}, state_of(before.result))
    assert set(after.result.relinked) == {"user.py", "window.pyw"}
    assert ("`user.py`/", "`window.pyw`/show().") in {(a, b) for a, b, *_ in before.links("CALL")}


def test_a_path_with_a_separator_of_keys_gets_its_links():
    files = {"a\x1e\x1f\x1db.py": "def f(): ...\ndef g(): f()\n", "\x1c.js": "function f() {}\nf();"}
    assert {(a, b) for a, b, *_ in Linked(files).links("CALL")} == {
        ("`a\x1e\x1f\x1db.py`/g().", "`a\x1e\x1f\x1db.py`/f()."),
        ("`\x1c.js`/", "`\x1c.js`/f()."),
    }
