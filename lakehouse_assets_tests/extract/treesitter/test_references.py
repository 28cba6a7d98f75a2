"""Names within a file, matched by spelling in the definitions around them."""

from lakehouse_assets.extract.facts import Facts
from lakehouse_assets_tests.extract.treesitter.support import facts_of, rows


def targets(facts: Facts, name: str) -> list[str]:
    """What each use of the name stands for: a definition's descriptor, or the place of a binding in one."""
    names = {(d, n): own for d, n, _, own, *_ in rows(facts, "nodes")}
    told = []
    for kind, src_d, src_n, dst_d, dst_n, label in rows(facts, "edges"):
        if kind == "REF" and names[src_d, src_n] == name:
            assert label == "name"
            where = facts.defs["descriptor"][dst_d]
            told.append(where if dst_n == 0 else f"{where}:{names[dst_d, dst_n]}")
    return told


def test_a_call_stands_for_the_function_of_the_name():
    assert targets(facts_of("function f() {}\nfunction g() { f(); }", "JavaScript"), "f") == ["f()."]


def test_a_parameter_hides_what_is_outside():
    assert targets(facts_of("function f() {}\nfunction g(f) { f(); }", "JavaScript"), "f") == ["g().:f"]


def test_a_local_is_found_from_a_function_inside():
    source = "function f() { const total = 1; return () => total; }"
    assert targets(facts_of(source, "JavaScript"), "total") == ["f().:total"]


def test_a_name_that_nothing_binds_has_no_reference():
    assert targets(facts_of("g(); x.f(); function f() {}", "JavaScript"), "g") == []


def test_a_member_of_something_else_is_no_name_in_scope():
    assert targets(facts_of("function f() {}\nx.f();", "JavaScript"), "f") == []
    assert targets(facts_of("class A { void f() {} void g(B b) { b.f(); } }", "Java"), "f") == []
    assert targets(facts_of("def f(): pass\nx.f()\ng(f=1)\n", "Python"), "f") == []


def test_members_are_in_scope_by_their_bare_names_where_the_language_has_it_so():
    assert targets(facts_of("class A { void f() {} void g() { f(); } }", "Java"), "f") == ["A#f()."]
    assert targets(facts_of("class A { f() {} g() { f(); } }", "JavaScript"), "f") == []


def test_a_type_is_meant_by_its_name_not_its_constructor():
    assert targets(facts_of("class A { A() {} A next; }", "Java"), "A") == ["A#"]


def test_what_is_defined_comes_before_what_is_only_announced():
    source = "int f(int);\nint g(void) { return f(1); }\nint f(int x) { return x; }\n"
    assert targets(facts_of(source, "C"), "f") == ["f()."]


def test_a_method_of_a_receiver_is_not_in_scope_by_its_name():
    assert targets(facts_of("package p\nfunc (t T) f() {}\nfunc g() { f() }\n", "Go"), "f") == []
