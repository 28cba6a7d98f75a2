"""Values followed through a file and across files."""

import pytest

from lakehouse_assets_tests.support.linked import Linked

HEAD = """
def one(): pass
def two(): pass
def three(): pass
class Job:
    def run(self): pass
    def __call__(self): pass
"""


def main_calls(body: str) -> set[str]:
    """Own functions that the module calls."""
    found = Linked({"main.py": HEAD + body}).calls("main")
    return {name.removeprefix("main.") for name in found if name.startswith("main.")}


@pytest.mark.parametrize(
    ("body", "called"),
    [
        ("x = one\nx = two\nx()", {"two"}),
        ("x = one\nif c:\n    x = two\nx()", {"one", "two"}),
        ("for x in [one, two]:\n    x()", {"one", "two"}),
        ("for i, x in enumerate([one]):\n    x()", {"one"}),
        ("for a, b in zip([one], [two]):\n    b()", {"two"}),
        ("for k, v in {'a': one}.items():\n    v()", {"one"}),
        ("a, *b, c = [one, two, three]\nb[0]()", {"two"}),
        ("[f() for f in (one, two)]", {"one", "two"}),
        ("x = {k: one for k in y}\nx['a']()", {"one"}),
        ("list(map(one, y))", {"one"}),
        ("sorted(y, key=two)", {"two"}),
        ("x = []\nx.append(one)\nx[0]()", {"one"}),
        ("x = {}\nx.setdefault('a', one)()\nx.get('b', two)()", {"one", "two"}),
        ("x = [one, two][1:]\nx[0]()", {"two"}),
        ("x = one or two\nx()", {"one", "two"}),
        ("x = one if c else two\nx()", {"one", "two"}),
        ("(x := one)()", {"one"}),
        ("def f(*args):\n    for a in args:\n        a()\nf(one)", {"f"}),
        ("Job()()", {"Job.__call__"}),
        ("getattr(Job(), 'run')()", {"Job.run"}),
        ("x = Job()\nx.late = one\nx.late()", {"one"}),
        ("import functools\nfunctools.partial(one, 1)()", {"one"}),
        ("import copy\ncopy.copy(Job()).run()", {"Job.run"}),
        ("type(Job())().run()", {"Job.run"}),
        ("match Job():\n    case Job() as j:\n        j.run()", {"Job.run"}),
        ("try: pass\nexcept Job as j:\n    j.run()", {"Job.run"}),
        (
            "import contextlib\n@contextlib.contextmanager\ndef m():\n    yield Job()\nwith m() as j:\n    j.run()",
            {"m", "Job.run"},
        ),
        ("async def f():\n    return Job()\nasync def g():\n    (await f()).run()", set()),
    ],
)
def test_a_value_is_followed_to_its_call(body: str, called: set[str]):
    assert main_calls(body) == called


def test_arguments_reach_parameters_however_they_are_passed():
    found = Linked(
        {
            "main.py": HEAD
            + """
def plain(a): a()
def keyword(*, b): b()
def rest(*args): args[1]()
def named(**kwargs): kwargs["c"]()
def forward(*args, **kwargs): keyword(**kwargs)
def default(d=three): d()
plain(one)
keyword(b=two)
rest(one, two)
named(c=three)
forward(b=one)
plain(*[two])
"""
        }
    )
    assert found.calls("main.plain") == {"main.one", "main.two"}
    assert found.calls("main.keyword") == {"main.two", "main.one"}
    assert found.calls("main.rest") == {"main.two"}
    assert found.calls("main.named") == {"main.three"}
    assert found.calls("main.default") == {"main.three"}


def test_values_cross_files_through_arguments_returns_attributes_and_containers():
    found = Linked(
        {
            "lib.py": "HANDLERS = {}\ndef call(f):\n    f()\ndef same(x):\n    return x\n"
            "class Holder:\n    def __init__(self, f):\n        self.f = f\n    def go(self):\n        self.f()\n"
            "def each():\n    HANDLERS['a']()\n",
            "main.py": "import lib\ndef one(): pass\ndef two(): pass\nlib.call(one)\nlib.same(two)()\n"
            "lib.Holder(one).go()\nlib.HANDLERS['a'] = two\n",
        }
    )
    assert found.calls("lib.call") == {"main.one"}
    assert "main.two" in found.calls("main")
    assert found.calls("lib.Holder.go") == {"main.one"}
    assert found.calls("lib.each") == {"main.two"}


@pytest.mark.parametrize(
    ("use", "special"),
    [
        ("a + 1", "__add__"),
        ("1 + a", "__radd__"),
        ("a == 1", "__eq__"),
        ("1 in a", "__contains__"),
        ("-a", "__neg__"),
        ("a[0]", "__getitem__"),
        ("a[0] = 1", "__setitem__"),
        ("del a[0]", "__delitem__"),
        ("len(a)", "__len__"),
        ("str(a)", "__str__"),
        ("f'{a}'", "__str__"),
        ("with a: pass", "__enter__"),
        ("for b in a: pass", "__iter__"),
        ("a.missing", "__getattr__"),
    ],
)
def test_operators_and_built_ins_call_special_methods(use: str, special: str):
    methods = "\n".join(f"    def {name}(self, *args): pass" for name in [special])
    found = Linked({"main.py": f"class A:\n{methods}\na = A()\n{use}"})
    assert f"main.A.{special}" in found.calls("main")
    assert found.how("`main.py`/", f"`main.py`/A#{special}().")[0] == "dunder"


def test_class_methods_static_methods_and_nested_classes():
    found = Linked(
        {
            "main.py": """
            class A:
                class Inner:
                    def go(self): pass
                @classmethod
                def make(cls):
                    return cls()
                @staticmethod
                def plain(f):
                    f()
                def go(self): pass
            A.make().go()
            A.plain(A.Inner().go)
            """
        }
    )
    assert found.calls("main") == {"main.A.make", "main.A.go", "main.A.plain"}
    assert found.calls("main.A.plain") == {"main.A.Inner.go"}


def test_a_call_through_self_is_certain_unless_a_class_below_overrides():
    base = {"base.py": "class Base:\n    def go(self):\n        self.step()\n    def step(self): pass"}
    alone = Linked(base)
    assert alone.how("`base.py`/Base#go().", "`base.py`/Base#step().") == ("self", "certain")
    below = {"leaf.py": "from base import Base\nclass Leaf(Base):\n    def step(self): pass"}
    found = Linked({**base, **below})
    assert found.how("`base.py`/Base#go().", "`base.py`/Base#step().") == ("self", "likely")
    assert found.how("`base.py`/Base#go().", "`leaf.py`/Leaf#step().") == ("self", "likely")


def test_a_property_that_is_set_and_a_descriptor_call_their_setters():
    found = Linked(
        {
            "main.py": """
            class Field:
                def __set__(self, instance, value): pass
            class A:
                field = Field()
                @property
                def size(self): return 1
                @size.setter
                def size(self, value): pass
            a = A()
            a.size = 3
            a.field = 4
            """
        }
    )
    assert found.how("`main.py`/", "`main.py`/A#size(+1).") == ("property", "likely")
    assert found.how("`main.py`/", "`main.py`/Field#__set__().")[0] == "descriptor"


def test_a_call_in_the_head_of_a_function_is_run_by_what_is_around_it():
    found = Linked({"main.py": "def default(): pass\ndef deco(f): return f\n@deco\ndef func(x=default()): pass"})
    assert found.calls("main") == {"main.deco", "main.default"}
    assert found.calls("main.func") == set()


def test_a_class_without_init_leads_to_the_class_and_one_from_outside_to_its_base():
    found = Linked({"main.py": "import ext\nclass A: pass\nclass B(ext.Base): pass\nA()\nB()"})
    targets = {target for _, target, *_ in found.links("CALL")}
    assert targets == {"`main.py`/A#", "`main.py`/B#", "ext.Base.__init__"}


def test_fixtures_reach_tests_by_their_names():
    found = Linked(
        {
            "app.py": "class App:\n    def get(self): pass",
            "tests/conftest.py": "import pytest\nfrom app import App\n@pytest.fixture\ndef app():\n    yield App()",
            "tests/test_app.py": "def test_get(app):\n    app.get()\ndef helper(app):\n    app.get()",
        }
    )
    assert found.calls("tests.test_app.test_get") == {"app.App.get"}
    assert found.calls("tests.test_app.helper") == set()


def test_endless_chains_of_attributes_end():
    found = Linked({"main.py": "import ext\nnode = ext.head\nwhile node:\n    node = node.next\n    node.left.right()"})
    assert all(name.count(".") <= 6 for name in found.calls("main"))


def test_many_values_of_a_shared_variable_say_nothing():
    files = {"lib.py": "def call(job):\n    job.run()"}
    for i in range(30):
        files[f"m{i}.py"] = f"import lib\nclass Job{i}:\n    def run(self): pass\nlib.call(Job{i}())"
    assert Linked(files).calls("lib.call") == set()
    few = {path: text for path, text in files.items() if path in ("lib.py", "m1.py", "m2.py")}
    assert Linked(few).calls("lib.call") == {"m1.Job1.run", "m2.Job2.run"}
