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


GO = {
    "top.go": "package m\nfunc Top() {}",
    "cmd/main.go": 'package main\nimport ("example.com/m/util"; "fmt"; "net/http")\nfunc main() { util.Do() }',
    "util/a_test.go": "package util\nfunc TestA() { Do() }",
    "util/util.go": "package util\nfunc Do() {}",
    "internal/util/util.go": "package util\nfunc Do() {}",
    "http/http.go": "package http\nfunc Get() {}",
    "b/b.go": 'package b\nimport ("example.com/m"; "example.com/m/gone"; "github.com/x/y")\nfunc F() { m.Top() }',
}


def test_the_packages_of_a_go_module_are_its_own_and_no_import_lands_on_a_test():
    linked = Linked(GO)
    assert linked.imports("cmd/main.go") == {
        "example.com/m/util": ("first_party", "example.com/m/util", "util/util.go"),
        "fmt": ("standard_library", "fmt", None),
        "net/http": ("standard_library", "net/http", None),
    }
    assert linked.imports("b/b.go") == {
        "example.com/m": ("first_party", "example.com/m", "top.go"),
        "example.com/m/gone": ("unresolved", "example.com/m/gone", None),
        "github.com/x/y": ("third_party", "github.com/x/y", None),
    }
    assert {(a, b) for a, b, *_ in linked.links("CALL")} == {
        ("`cmd/main.go`/main().", "`util/util.go`/Do()."),
        ("`util/a_test.go`/TestA().", "`util/util.go`/Do()."),
        ("`b/b.go`/F().", "`top.go`/Top()."),
    }


@pytest.mark.parametrize("gone", sorted(GO))
def test_a_go_file_that_comes_changes_what_a_clean_run_has(gone: str):
    before = Linked({path: text for path, text in GO.items() if path != gone})
    after = Linked(GO, state_of(before.result))
    clean = rows(Linked(GO).result)
    stale = after.result.relinked.keys() | after.result.gone
    old = {name: {row for row in table if row[1] not in stale} for name, table in rows(before.result).items()}
    new = rows(after.result)
    for name in ("links", "imports_resolved"):
        assert old[name] | new[name] == clean[name]


def test_a_class_is_made_though_its_constructor_has_its_name():
    linked = Linked(
        {
            "a/B.java": "package a; class B { B() {} void m() { new B(); new C(); } }",
            "a/C.java": "package a; class C { C() {} C(int x) {} }",
            "b/D.java": "package b; import a.C; class D { void q() { new C(1); } }",
        }
    )
    assert {(a, b) for a, b, *_ in linked.links("CALL")} == {
        ("`a/B.java`/B#m().", "`a/B.java`/B#"),
        ("`a/B.java`/B#m().", "`a/C.java`/C#"),
        ("`b/D.java`/D#q().", "`a/C.java`/C#"),
    }


@pytest.mark.parametrize(
    ("files", "calls"),
    [
        (
            {
                "a.ts": "export class Ky { json() {} get() { this.json(); r.json(); json(); } static of() {} }",
                "b.ts": "import {Ky} from './a'; Ky.of(); k.json(); JSON.parse('x'); foo(); Ky.json.of();",
                "c.ts": "export class P { parse() {} }\nexport function foo() {}",
            },
            {("`a.ts`/Ky#get().", "`a.ts`/Ky#json()."), ("`b.ts`/", "`a.ts`/Ky#of().")},
        ),
        (
            {
                "a.js": "import * as b from './b'; import {c as d} from './b'; b.go(); b.x.go(); x.go(); d(); d.go();",
                "b.js": "export function go() {}\nexport function c() {}",
            },
            {("`a.js`/", "`b.js`/go()."), ("`a.js`/", "`b.js`/c().")},
        ),
        (
            {"a/A.java": "package a; class A { void f(B b) { b.run(); } }", "a/B.java": "class B { void run() {} }"},
            set(),
        ),
        ({"a.go": "package a\ntype S struct{}\nfunc (s S) Run() {}\nfunc F(x S) { x.Run() }"}, set()),
        ({"a.c": "int f(struct s *p) { return p->go(); }", "b.c": "int go(void) { return 1; }"}, set()),
        ({"a.rb": "class A\n  def go\n  end\n  def m(x)\n    x.go\n  end\nend\n"}, set()),
        ({"a.rs": "struct S; impl S { fn go(&self) {} }\nfn f(x: S) { x.go(); }"}, set()),
        ({"a.php": "<?php class A { function go() {} }\nfunction f($x) { $x->go(); }"}, set()),
        ({"a.py": "print 'two'\nclass A:\n  def go(self): pass\ndef f(x): x.go()\n"}, set()),
    ],
    ids=["TypeScript", "JavaScript", "Java", "Go", "C", "Ruby", "Rust", "PHP", "Python 2"],
)
def test_a_member_of_what_is_not_known_is_not_guessed(files: dict[str, str], calls: set[tuple[str, str]]):
    assert {(a, b) for a, b, *_ in Linked(files).links("CALL")} == calls
