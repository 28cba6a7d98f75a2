"""The words of a recipe."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib.resources.abc import Traversable
from typing import Any, Literal

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.lake.neighbours import NEIGHBOURS
from lakehouse_assets.plan.code_version import code_version
from lakehouse_assets.plan.derivation import Derivation
from lakehouse_assets.plan.engine import Engine
from lakehouse_assets.plan.relational_step import RelationalStep
from lakehouse_assets.plan.step_analysis import analysis_of
from lakehouse_assets.recipes.extractors import extractors

Group = Literal["git", "graph", "change", "impact", "activity"]

Tool = Literal["git", "python", "duckdb"]
"""What makes the rows where a run works in its own process."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Recipe:
    """How a table is made: what is read, by which code, and which rows a change makes anew."""

    contract: TableContract
    group: Group
    made_with: str = ""
    """The step that makes it together with other tables; without one, it has a step of its own."""
    partitions: Literal["repository", "month"] = "repository"

    inputs: tuple[TableContract, ...] = ()
    """Read; a partition is stale when their content differs."""
    also: tuple[TableContract, ...] = ()
    """Read as well, and have to be up to date; what counts of their content follows from that of the inputs."""
    at: tuple[TableContract, ...] = ()
    """Only asked which commit they are of."""
    past: tuple[TableContract, ...] = ()
    """Read as they were before the run, besides its own rows: tables that are made later in it."""
    neighbours: bool = False
    """Whether other repositories count as well."""

    functions: tuple[Callable[..., Any], ...] = ()
    steps: tuple[RelationalStep, ...] = ()
    """The queries whose rows the functions get, or that make the rows."""
    libraries: tuple[str, ...] = ()
    data_files: tuple[Traversable, ...] = ()
    reads_facts: bool = False
    """Whether the rows come from what the extractors found, so that their versions count."""

    owner_columns: tuple[str, ...] = ("path",)
    """Columns of the inputs that name the owners whose rows a change there can change; none: all is made anew."""
    tells_versions: bool = False
    """Whether the rows tell the versions of the inputs, and nothing of what these hold."""
    of_updates: bool = False
    """Whether the rows tell how the repository came to its head, so that a clean build has others."""
    sampled: bool = False
    """Whether rows of single files can be made clean and compared."""

    local: Tool
    on_spark: bool = True

    @property
    def name(self) -> str:
        return self.contract.name

    @property
    def step(self) -> str:
        """The step that makes the table."""
        return self.made_with or self.name

    @property
    def input_names(self) -> tuple[str, ...]:
        """Whose content counts, by name."""
        return (*(each.name for each in self.inputs), *([NEIGHBOURS] if self.neighbours else []))

    @property
    def deps(self) -> tuple[TableContract, ...]:
        """All that a run has to make before."""
        return tuple(dict.fromkeys((*self.inputs, *self.also, *self.at)))

    @property
    def engines(self) -> tuple[Engine, ...]:
        """Where it can be made: builds work on Spark where they can, small updates in the run's process."""
        return ("spark", "local") if self.on_spark else ("local",)

    @property
    def kinds(self) -> frozenset[str]:
        """What makes the rows, in a build and in an update, and what keeps them."""
        return frozenset({self.local, "deltalake"} | ({"spark"} if self.on_spark else set()))

    @cached_property
    def code_version(self) -> str:
        """Fingerprint of the code, of the steps' meaning, of the contract and of what else shapes the rows."""
        return code_version(
            *self.functions,
            libraries=self.libraries,
            data_files=self.data_files,
            parameters=[
                self.contract.version,
                *self._facts(),
                *(analysis_of(each).fingerprint for each in self.steps),
            ],
        )

    def _facts(self) -> list[str]:
        if self.reads_facts:
            return [json_text(dict(extractors()))]
        # Versions of tables that lakes hold were made with an empty place here; those of other groups were not.
        return [""] if self.group in ("graph", "change") else []

    @cached_property
    def derivation(self) -> Derivation:
        """What decides whether a partition is fresh, and what of it is made anew."""
        return Derivation(
            asset=self.name,
            inputs=self.input_names,
            code_version=self.code_version,
            policy_hash=self.contract.policy_hash,
            owner_columns=self.owner_columns,
            after=tuple(each.name for each in self.also),
        )
