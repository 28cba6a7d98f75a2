"""Calls found in flask and requests against those that their own test suites are seen to make.

Sources and tools come from the package registry at pinned versions. Tests that need the network may fail; what they
call before that counts.
"""

import subprocess
import sys
import tarfile
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from lakehouse_assets.link.local import Sources, call_graph_of, link_sources, sources_in
from lakehouse_assets.link.repository import LinkResult
from lakehouse_assets_tests.quality import trace_calls
from lakehouse_assets_tests.quality.observed import Edge, observed

RECALL = 0.80
CONFIRMED = 0.90
"""Of edges marked certain whose caller ran, those that have to be seen; the rest may be on branches not taken."""

pytestmark = pytest.mark.slow


@dataclass(frozen=True, kw_only=True)
class Project:
    name: str
    version: str
    tools: tuple[str, ...]
    fewest: int
    """Calls into the package that have to be observed, so that a suite that did not run is noticed."""


PROJECTS = (
    Project(
        name="flask",
        version="3.1.2",
        tools=("pytest==8.4.2", "python-dotenv==1.1.1", "asgiref==3.9.1", "werkzeug==3.1.3", "click==8.2.1"),
        fewest=1200,
    ),
    Project(
        name="requests",
        version="2.32.5",
        tools=(
            "pytest==8.4.2",
            "pytest-httpbin==2.1.0",
            "httpbin==0.10.2",
            "pytest-mock==3.14.1",
            "PySocks==1.7.1",
            "trustme",
        ),
        fewest=700,
    ),
)


def run(*command: str, folder: Path, check: bool = True) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert not check or done.returncode == 0, done.stdout + done.stderr


def sources_of(project: Project, folder: Path) -> Path:
    """The unpacked source distribution, installed with what its tests need into an environment of its own."""
    pinned = f"{project.name}=={project.version}"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    run(*pip, "download", "-q", "--no-deps", "--no-binary", project.name, "-d", ".", pinned, folder=folder)
    with tarfile.open(next(folder.glob("*.tar.gz"))) as packed:
        packed.extractall(folder, filter="data")
    root = folder / f"{project.name}-{project.version}"
    run(sys.executable, "-m", "venv", "env", folder=folder)
    run("env/bin/pip", "install", "-q", "-e", str(root), *project.tools, folder=folder)
    return root


def split(edges: set[Edge], package: str) -> dict[str, set[Edge]]:
    """By whether caller and callee are of the package or of its tests."""
    inside = f"{package}."
    return {
        "package to package": {e for e in edges if e[0].startswith(inside) and e[1].startswith(inside)},
        "tests to package": {e for e in edges if not e[0].startswith(inside) and e[1].startswith(inside)},
        "to tests": {e for e in edges if not e[1].startswith(inside)},
    }


def edges_of(sources: Sources, result: LinkResult, confidence: str | None = None) -> set[Edge]:
    """Calls that linking found, of one confidence or all."""
    rows = [i for i, there in enumerate(result.links["confidence"]) if confidence in (None, there)]
    chosen = {name: [column[i] for i in rows] for name, column in result.links.items()}
    graph = call_graph_of(sources, replace(result, links=chosen))
    return {(caller, callee) for caller, callees in graph.items() for callee in callees}


@pytest.mark.parametrize("project", PROJECTS, ids=lambda project: project.name)
def test_most_calls_that_a_test_suite_makes_are_found(project: Project, tmp_path: Path):
    root = sources_of(project, tmp_path)
    tracer = str(Path(trace_calls.__file__))
    pytest_args = ("-q", "-p", "no:cacheprovider", "tests")
    run(str(tmp_path / "env/bin/python"), tracer, "../trace.json", ".", *pytest_args, folder=root, check=False)
    sources = sources_in(root)
    seen = observed(sources, tmp_path / "trace.json")
    result = link_sources(sources)
    found = edges_of(sources, result)
    parts = split(seen, project.name)
    for name, edges in parts.items():
        share = len(edges & found) / max(len(edges), 1)
        print(f"{project.name} {project.version} {name}: {len(edges & found)} of {len(edges)} ({share:.3f})")
    assert len(parts["package to package"] | parts["tests to package"]) >= project.fewest
    for edges in (seen, parts["package to package"], parts["tests to package"]):
        assert len(edges & found) / len(edges) >= RECALL
    ran = {function for edge in seen for function in edge}
    own = tuple(f"{name}." for name in (project.name, "tests"))
    for confidence in ("certain", "likely"):
        could = {e for e in edges_of(sources, result, confidence) if e[0] in ran and e[1].startswith(own)}
        share = len(could & seen) / len(could)
        print(f"{project.name} {confidence}: {len(could & seen)} of {len(could)} seen ({share:.3f})")
        assert confidence != "certain" or share >= CONFIRMED
