"""Sample programs with what is expected of them, and short ways to look into facts."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from lakehouse_assets.extract.facts import Facts
from lakehouse_assets.extract.treesitter.extractor import extract_with_tree_sitter

SAMPLES = sorted(Path(__file__).with_name("samples").glob("*.toml"))


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A program, and what is in it: lines of text that a person can check against the program."""

    language: str
    source: str
    definitions: list[str]
    documented: list[str]
    calls: list[str]
    imports: list[str]
    bases: list[str]
    exports: list[str]
    package: str | None


def sample(path: Path) -> Sample:
    return Sample(**({"exports": [], "package": None} | tomllib.loads(path.read_text("utf-8"))))


def sources() -> dict[str, str]:
    """The sample program of each language."""
    return {one.language: one.source for one in map(sample, SAMPLES)}


def facts_of(source: str | bytes, language: str) -> Facts:
    return extract_with_tree_sitter(source, language)


def rows(facts: Facts, table: str) -> list[tuple]:
    return list(zip(*getattr(facts, table).values(), strict=True))


def definition(facts: Facts, descriptor: str) -> dict:
    at = facts.defs["descriptor"].index(descriptor)
    return {name: column[at] for name, column in facts.defs.items()}


def check_form(facts: Facts) -> None:
    """What holds for every text: numbers without gaps, one tree, no dangling ends, unique descriptors."""
    nodes = list(zip(facts.nodes["d"], facts.nodes["n"], strict=True))
    present = set(nodes)
    assert nodes == sorted(present)
    assert present >= {(d, 0) for d in range(len(facts.defs["kind"]))}
    counts = dict.fromkeys(range(len(facts.defs["kind"])), 0)
    for d, n in nodes:
        assert n == counts[d]
        counts[d] += 1
    edges = rows(facts, "edges")
    assert all((src_d, src_n) in present and (d, n) in present for _, src_d, src_n, d, n, _ in edges)
    children = [(d, n) for kind, _, _, d, n, _ in edges if kind == "AST"]
    assert sorted(children) == sorted(present - {(0, 0)})
    assert len(set(edges)) == len(edges)
    assert len(set(facts.defs["descriptor"])) == len(facts.defs["descriptor"])
    assert all(parent < d for d, parent in enumerate(facts.defs["parent"]))
    for table in (facts.defs, facts.nodes, facts.edges, facts.props):
        assert len({len(column) for column in table.values()}) == 1
