"""What linking is told: containers, nested imports, exports."""

from lakehouse_assets_tests.extract.treesitter.support import facts_of


def containers(source: str, language: str) -> dict[str, str | None]:
    return {name: container for _, name, _, container in facts_of(source, language).summary["definitions"]}


def imports(source: str, language: str) -> list[list]:
    return [row[2:] for row in facts_of(source, language).summary["imports"]]


def test_a_container_is_the_names_around_a_definition():
    found = containers("class A { class B { void f() {} } }", "Java")
    assert found == {"A": None, "B": "A", "f": "A.B"}


def test_a_method_outside_its_type_names_the_type_as_its_container():
    assert containers("package p\nfunc (t *T[K]) M() {}\n", "Go") == {"M": "T"}
    assert containers("void n::A<int>::f() {}", "C++") == {"f": "n::A"}
    assert containers("impl<T> Show for Shop<T> { fn f() {} }", "Rust") == {"Shop": None, "f": "Shop"}


def test_groups_of_imports_are_spelled_out():
    source = "use a::{b::{c, d::{self, e as f}}, g::*, h};"
    assert imports(source, "Rust") == [
        ["a::b", [["c", None]], None, "import"],
        ["a::b::d", [["self", None], ["e", "f"]], None, "import"],
        ["a::g", [["*", None]], None, "import"],
        ["a", [["h", None]], None, "import"],
    ]


def test_a_module_with_an_alias_and_a_default_is_one_import():
    assert imports('import d, * as all from "m";', "JavaScript") == [["m", [["default", "d"]], "all", "import"]]


def test_a_relative_import_keeps_its_dots():
    assert imports("from ... import x\nfrom .a.b import y\n", "Python") == [
        ["...", [["x", None]], None, "import"],
        [".a.b", [["y", None]], None, "import"],
    ]


def test_future_imports_are_imports():
    assert imports("from __future__ import annotations\n", "Python") == [
        ["__future__", [["annotations", None]], None, "import"]
    ]


def test_what_modules_of_the_old_kind_export_is_found():
    source = "exports.f = function () {};\nmodule.exports = Thing;\n"
    assert facts_of(source, "JavaScript").summary["exports"] == [["f", "f"], ["default", "Thing"]]


def test_everything_is_to_be_matched_by_name():
    summary = facts_of("x();", "JavaScript").summary
    assert (summary["form"], summary["language"]) == ("names", "JavaScript")
