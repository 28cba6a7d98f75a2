"""Other languages: matched by name and path, and labelled as such."""

import pytest

from lakehouse_assets_tests.support.linked import Linked, rows, state_of


@pytest.mark.parametrize(
    ("files", "source", "target"),
    [
        (
            {"a/x.js": 'import {go} from "./y"; function f() { go(); }', "a/y.ts": "export function go() {}"},
            "`a/x.js`/f().",
            "`a/y.ts`/go().",
        ),
        (
            {
                "a/B.java": "package a; import a.c.D; class B { void m() { D.q(); } }",
                "src/a/c/D.java": "package a.c; class D { static void q() {} }",
            },
            "`a/B.java`/B#m().",
            "`src/a/c/D.java`/D#q().",
        ),
        (
            {
                "m/main.c": '#include "util.h"\nint main(void) { return help(); }',
                "m/util.c": "int help(void) { return 1; }",
                "m/util.h": "int other(void);",
            },
            "`m/main.c`/main().",
            "`m/util.c`/help().",
        ),
    ],
    ids=["script", "java", "c"],
)
def test_a_call_is_found_by_name(files: dict[str, str], source: str, target: str):
    found = {(a, b): confidence for a, b, _, _, confidence in Linked(files).links("CALL")}
    assert found.get((source, target)) in ("guess", "likely")


def test_a_name_with_several_definitions_leads_nowhere():
    files = {
        "a.js": "function f() { go(); }",
        "b/one.js": "function go() {}",
        "b/two.js": "function go() {}",
    }
    assert Linked(files).links("CALL") == set()
    near = {**files, "one_more.js": "function go() {}"}
    assert {(a, b, m, c) for a, b, _, m, c in Linked(near).links("CALL")} == {
        ("`a.js`/f().", "`one_more.js`/go().", "name", "guess")
    }


def test_imports_land_by_path():
    found = Linked(
        {
            "web/app.ts": 'import {a} from "./lib";\nimport React from "react";\nimport {b} from "./gone";',
            "web/lib/index.ts": "export function a() {}",
            "go/main.go": 'package main\nimport "example.com/m/util"\nfunc main() { util.Do() }',
            "go/util/util.go": "package util\nfunc Do() {}",
            "rs/src/main.rs": "mod part;\nuse crate::part::go;\nfn main() { go(); }",
            "rs/src/part.rs": "pub fn go() {}",
        }
    )
    assert found.imports("web/app.ts")["a"] == ("first_party", "./lib", "web/lib/index.ts")
    assert found.imports("web/app.ts")["default"][0] == "third_party"
    assert found.imports("web/app.ts")["b"][0] == "unresolved"
    assert "go/util/util.go" in {path for _, _, path in found.imports("go/main.go").values()}
    assert {path for _, _, path in found.imports("rs/src/main.rs").values()} == {"rs/src/part.rs"}
    calls = {(a, b) for a, b, *_ in found.links("CALL")}
    assert ("`go/main.go`/main().", "`go/util/util.go`/Do().") in calls
    assert ("`rs/src/main.rs`/main().", "`rs/src/part.rs`/go().") in calls


def test_bases_are_matched_by_name():
    found = Linked({"a/A.java": "package a; class A {}", "a/B.java": "package a; class B extends A {}"})
    assert {(a, b, c) for a, b, _, _, c in found.links("INHERITS")} == {("`a/B.java`/B#", "`a/A.java`/A#", "guess")}


def test_a_new_definition_of_the_name_takes_a_guess_back():
    files = {"a.js": "function f() { go(); }", "b/one.js": "function go() {}", "c/far.js": "function far() {}"}
    before = Linked(files)
    state = state_of(before.result)
    files["d/two.js"] = "function go() {}"
    after = Linked(files, previous=state)
    assert set(after.result.relinked) == {"a.js", "d/two.js"}
    assert after.links("CALL") == set()
    files["lib.js"] = ""
    assert rows(Linked(files).result)["links"] == set()


def test_a_new_file_resolves_an_import_that_found_none():
    files = {"a.js": 'import {go} from "./later"; go();'}
    before = Linked(files)
    after = Linked({**files, "later.js": "export function go() {}"}, previous=state_of(before.result))
    assert set(after.result.relinked) == {"a.js", "later.js"}
    assert {b for _, b, *_ in after.links("CALL")} == {"`later.js`/go()."}


def test_files_that_call_the_same_at_the_same_place_each_have_their_call():
    text = "function f() { go(); }"
    linked = Linked({"a.js": text, "b.js": text, "c.js": "function go() {}"})
    assert {a for a, *_ in linked.links("CALL")} == {"`a.js`/f().", "`b.js`/f()."}
