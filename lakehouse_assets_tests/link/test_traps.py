"""Cases that linkers are known to get wrong."""

import pytest

from lakehouse_assets_tests.support.linked import Linked


def test_a_function_of_a_module_imported_from_a_package():
    found = Linked(
        {
            "pkg/__init__.py": "",
            "pkg/module.py": "def func(): pass",
            "main.py": "from pkg import module\nmodule.func()",
        }
    )
    assert found.calls("main") == {"pkg.module.func"}
    assert found.how("`main.py`/", "`pkg/module.py`/func().") == ("module", "certain")


def test_a_definition_in_the_init_of_a_package():
    found = Linked({"pkg/__init__.py": "def func(): pass", "main.py": "import pkg\npkg.func()"})
    assert found.calls("main") == {"pkg.func"}


def test_a_name_in_the_init_comes_before_the_submodule_of_that_name():
    found = Linked(
        {
            "pkg/__init__.py": "from .run import run",
            "pkg/run.py": "def run(): pass",
            "main.py": "from pkg import run\nrun()",
        }
    )
    assert found.calls("main") == {"pkg.run.run"}


def test_a_re_export_through_two_packages():
    found = Linked(
        {
            "a/__init__.py": "from b import func as renamed",
            "b/__init__.py": "from .deep import func",
            "b/deep.py": "def func(): pass",
            "main.py": "from a import renamed\nrenamed()",
        }
    )
    assert found.calls("main") == {"b.deep.func"}
    assert found.exports("a/__init__.py")["renamed"] == ("definition", "b/deep.py", "re-export")
    assert found.how("`main.py`/", "`b/deep.py`/func().") == ("import", "certain")


def test_a_star_import_takes_what_all_names():
    found = Linked(
        {
            "lib.py": "__all__ = ['_shown']\ndef _shown(): pass\ndef hidden(): pass",
            "main.py": "from lib import *\n_shown()\nhidden()",
        }
    )
    assert found.calls("main") == {"lib._shown"}


def test_a_star_import_without_all_takes_what_has_no_underscore():
    found = Linked(
        {
            "lib.py": "def shown(): pass\ndef _hidden(): pass",
            "main.py": "from lib import *\nshown()\n_hidden()",
        }
    )
    assert found.calls("main") == {"lib.shown"}


def test_all_can_be_put_together_from_parts_and_other_modules():
    found = Linked(
        {
            "a.py": "__all__ = ['one']\ndef one(): pass\ndef two(): pass",
            "b.py": "import a\nfrom a import *\n__all__ = ['three'] + a.__all__\n__all__ += ['four']\n"
            "__all__.append('five')\ndef three(): pass\ndef four(): pass\ndef five(): pass\ndef six(): pass",
            "main.py": "from b import *\none()\ntwo()\nthree()\nfour()\nfive()\nsix()",
        }
    )
    assert found.calls("main") == {"a.one", "b.three", "b.four", "b.five"}


def test_a_conditional_import_leads_to_both_and_is_not_certain():
    found = Linked(
        {
            "fast.py": "def run(): pass",
            "slow.py": "def run(): pass",
            "main.py": "try:\n    from fast import run\nexcept ImportError:\n    from slow import run\nrun()",
        }
    )
    assert found.calls("main") == {"fast.run", "slow.run"}
    assert found.how("`main.py`/", "`slow.py`/run().")[1] == "likely"


def test_an_import_for_type_checking_serves_annotations():
    found = Linked(
        {
            "lib.py": "class Job:\n    def run(self): pass",
            "main.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from lib import Job\n"
            "def start(job: 'Job'):\n    job.run()",
        }
    )
    assert found.calls("main.start") == {"lib.Job.run"}


def test_a_relative_import_beyond_the_top_is_unresolved():
    found = Linked({"pkg/__init__.py": "", "pkg/mod.py": "from ... import other\nfrom ...a import b\nother()"})
    assert {kind for kind, _, _ in found.imports("pkg/mod.py").values()} == {"unresolved"}


def test_a_name_that_a_local_shadows_is_not_the_imported_one():
    found = Linked(
        {
            "lib.py": "def func(): pass",
            "main.py": "from lib import func\ndef other(): pass\n"
            "def one(func):\n    func()\n"
            "def two():\n    func = other\n    func()\n"
            "def three():\n    func()",
        }
    )
    assert found.calls("main.one") == set()
    assert found.calls("main.two") == {"main.other"}
    assert found.calls("main.three") == {"lib.func"}


@pytest.mark.parametrize(
    "annotation", ["Job", "'Job'", "Job | None", "Optional[Job]", "Union[Job, str]", "Annotated[Job, 1]", "lib.Job"]
)
def test_a_method_called_on_an_annotated_parameter(annotation: str):
    found = Linked(
        {
            "lib.py": "class Job:\n    def run(self): pass",
            "main.py": "from typing import *\nimport lib\nfrom lib import Job\n"
            f"def start(job: {annotation}):\n    job.run()",
        }
    )
    assert found.calls("main.start") == {"lib.Job.run"}
    assert found.how("`main.py`/start().", "`lib.py`/Job#run().") == ("annotation", "likely")


def test_elements_of_an_annotated_container():
    found = Linked(
        {
            "main.py": """
            class Job:
                def run(self): pass
            def start(jobs: list[Job], by_name: dict[str, Job], kinds: list[type[Job]]):
                for job in jobs:
                    job.run()
            def named(by_name: dict[str, Job]):
                by_name["a"].run()
            def made(kinds: list[type[Job]]):
                kinds[0]().run()
            """
        }
    )
    for caller in ("start", "named", "made"):
        assert found.calls(f"main.{caller}") == {"main.Job.run"}


def test_reading_a_property_calls_it_and_gives_what_it_returns():
    found = Linked(
        {
            "lib.py": """
            class Engine:
                def start(self): pass
            class Car:
                @property
                def engine(self):
                    return Engine()
            """,
            "main.py": "from lib import Car\nCar().engine.start()",
        }
    )
    assert found.calls("main") == {"lib.Car.engine", "lib.Engine.start"}
    assert found.how("`main.py`/", "`lib.py`/Car#engine().")[0] == "property"


def test_a_decorator_that_replaces_the_function_replaces_its_calls():
    found = Linked(
        {
            "deco.py": "def swap(f):\n    def inner():\n        f()\n    return inner",
            "lib.py": "from deco import swap\n@swap\ndef func(): pass",
            "main.py": "from lib import func\nfunc()",
        }
    )
    assert found.calls("main") == {"deco.swap.inner"}
    assert found.calls("deco.swap.inner") == {"lib.func"}
    assert found.calls("lib") == {"deco.swap"}


def test_a_decorator_from_outside_leaves_the_function_in_place():
    found = Linked({"main.py": "import functools\n@functools.lru_cache\ndef func(): pass\nfunc()"})
    assert "main.func" in found.calls("main")


def test_a_decorator_that_wraps_keeps_both_functions():
    found = Linked(
        {
            "main.py": """
            import functools
            def deco(f):
                @functools.wraps(f)
                def inner(*args, **kwargs):
                    return f(*args, **kwargs)
                return inner
            @deco
            def func(call):
                call()
            def given(): pass
            func(given)
            """
        }
    )
    assert found.calls("main.deco.inner") == {"main.func"}
    assert found.calls("main.func") == {"main.given"}


def test_cyclic_imports_resolve_both_ways():
    found = Linked(
        {
            "a.py": "import b\ndef fa():\n    b.fb()",
            "b.py": "from a import fa\ndef fb():\n    fa()",
            "c.py": "from d import x",
            "d.py": "from c import x",
        }
    )
    assert found.calls("a.fa") == {"b.fb"}
    assert found.calls("b.fb") == {"a.fa"}
    assert found.imports("c.py")["x"][0] == "unresolved"


BASES = {
    "left.py": "class Left:\n    def go(self): pass\n    def only_left(self): pass",
    "right.py": "class Right:\n    def go(self): pass\n    def only_right(self): pass",
}


@pytest.mark.parametrize(("bases", "first"), [("Left, Right", "left.Left.go"), ("Right, Left", "right.Right.go")])
def test_the_order_of_bases_across_files_decides_which_method_is_called(bases: str, first: str):
    found = Linked(
        {
            **BASES,
            "both.py": f"from left import Left\nfrom right import Right\nclass Both({bases}): pass",
            "main.py": "from both import Both\nboth = Both()\nboth.go()\nboth.only_left()\nboth.only_right()",
        }
    )
    assert found.calls("main") == {first, "left.Left.only_left", "right.Right.only_right"}


def test_a_cross_file_diamond_follows_the_resolution_order_through_super():
    found = Linked(
        {
            "base.py": "class Base:\n    def go(self): pass",
            "one.py": "from base import Base\nclass One(Base):\n    def go(self):\n        super().go()",
            "two.py": "from base import Base\nclass Two(Base):\n    def go(self):\n        super().go()",
            "main.py": "from one import One\nfrom two import Two\nclass Both(One, Two): pass\nBoth().go()",
        }
    )
    assert found.calls("main") == {"one.One.go"}
    # In a Both, what comes behind One is Two; in a plain One it is Base.
    assert found.calls("one.One.go") == {"two.Two.go", "base.Base.go", "<builtin>.super"}


def test_a_class_whose_bases_cannot_be_ordered_is_labelled():
    found = Linked({"main.py": "class A: pass\nclass B(A): pass\nclass C(A, B): pass"})
    assert ("`main.py`/C#", "`main.py`/B#", "1", "inconsistent bases", "likely") in found.links("INHERITS")
    assert ("`main.py`/B#", "`main.py`/A#", "0", "bases", "certain") in found.links("INHERITS")


def test_overrides_lead_to_the_next_in_the_resolution_order():
    found = Linked(
        {
            "base.py": "class Base:\n    def go(self): pass",
            "mid.py": "from base import Base\nclass Mid(Base): pass",
            "main.py": "from mid import Mid\nclass Leaf(Mid):\n    def go(self): pass",
        }
    )
    assert {(a, b) for a, b, *_ in found.links("OVERRIDES")} == {("`main.py`/Leaf#go().", "`base.py`/Base#go().")}
