"""What is found in a small program of each language."""

from pathlib import Path

import pytest

from lakehouse_assets.extract.facts import Facts
from lakehouse_assets.extract.treesitter.grammars import SUPPORTED
from lakehouse_assets_tests.extract.treesitter.support import SAMPLES, check_form, facts_of, sample

each_sample = pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)


def calls(facts: Facts) -> list[str]:
    where = facts.defs["descriptor"]
    return [f"{where[d]} calls {name}" + (f" of {of}" if of else "") for d, _, name, of in facts.summary["calls"]]


def imports(facts: Facts) -> list[str]:
    told = []
    for _, _, module, names, alias, kind in facts.summary["imports"]:
        taken = ", ".join(name + (f" as {own}" if own else "") for name, own in names)
        told.append(f"{kind} {module}" + (f": {taken}" if taken else "") + (f" as {alias}" if alias else ""))
    return told


def test_every_supported_language_has_a_sample():
    assert {sample(path).language for path in SAMPLES} == SUPPORTED


@each_sample
def test_a_sample_is_read_whole_and_in_form(path: Path):
    facts = facts_of(sample(path).source, sample(path).language)
    assert (facts.status, facts.diagnostics, facts.parser) == ("ok", (), "tree-sitter")
    check_form(facts)


@each_sample
def test_the_definitions_of_a_sample_are_found(path: Path):
    facts = facts_of(sample(path).source, sample(path).language)
    found = [f"{kind} {own}" for kind, own in zip(facts.defs["kind"], facts.defs["descriptor"], strict=True)]
    assert found[1:] == sample(path).definitions
    assert found[0] == "module "


@each_sample
def test_the_summary_names_the_same_definitions_as_the_table(path: Path):
    facts = facts_of(sample(path).source, sample(path).language)
    told = [(d, name, kind) for d, name, kind, _ in facts.summary["definitions"]]
    assert told == list(zip(range(len(facts.defs["name"])), facts.defs["name"], facts.defs["kind"], strict=True))[1:]


@each_sample
def test_the_documentation_in_a_sample_is_found(path: Path):
    facts = facts_of(sample(path).source, sample(path).language)
    found = zip(facts.defs["descriptor"], facts.defs["docstring"], strict=True)
    assert [f"{own}: {text}" for own, text in found if text] == sample(path).documented


@each_sample
def test_the_calls_in_a_sample_are_found(path: Path):
    assert calls(facts_of(sample(path).source, sample(path).language)) == sample(path).calls


@each_sample
def test_the_imports_of_a_sample_are_found(path: Path):
    facts = facts_of(sample(path).source, sample(path).language)
    assert imports(facts) == sample(path).imports
    assert facts.summary["package"] == sample(path).package


@each_sample
def test_the_bases_and_exports_of_a_sample_are_found(path: Path):
    facts = facts_of(sample(path).source, sample(path).language)
    where = facts.defs["descriptor"]
    assert [f"{where[d]} {base}" for d, base in facts.summary["bases"]] == sample(path).bases
    assert [f"{outside} = {local}" for outside, local in facts.summary["exports"]] == sample(path).exports


@each_sample
def test_calls_and_imports_are_told_by_nodes_that_exist(path: Path):
    facts = facts_of(sample(path).source, sample(path).language)
    nodes = set(zip(facts.nodes["d"], facts.nodes["n"], strict=True))
    assert {(d, n) for d, n, *_ in facts.summary["calls"] + facts.summary["imports"]} <= nodes
