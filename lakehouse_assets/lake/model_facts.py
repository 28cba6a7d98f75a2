"""What planning has to know of the lake, from the ledger and the tables' logs: no data file is opened."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from lakehouse_assets.contracts.environments import ENVIRONMENTS
from lakehouse_assets.contracts.graph_versions import GRAPH_VERSIONS
from lakehouse_assets.contracts.model_versions import MODEL_VERSIONS
from lakehouse_assets.contracts.pipeline_executions import PIPELINE_EXECUTIONS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.hashing import fingerprint
from lakehouse_assets.lake.ledger import Entry, EntryKey, Ledger
from lakehouse_assets.lake.model_tables import named
from lakehouse_assets.lake.published_graph import newest_graph
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.models.facts import Built, BuiltPart, SourceState

_OWN = {ENVIRONMENTS.name, MODEL_VERSIONS.name, PIPELINE_EXECUTIONS.name}
"""Tables that tell of environments; they move with every change of one, and are no part of it."""


def source_states(lake: Lake, tables: Mapping[str, TableContract], read: Collection[str]) -> dict[str, SourceState]:
    """The tables that assets have made, and those that models read: the graph's as published, others as they are."""
    latest = Ledger(lake).latest([each for name, each in tables.items() if name not in _OWN])
    entries: dict[str, list[Entry]] = {}
    for (asset, _), entry in latest.items():
        if entry.cursor:
            entries.setdefault(asset, []).append(entry)
    graph = newest_graph(lake)
    states: dict[str, SourceState] = {}
    for name, contract in tables.items():
        if name not in _OWN and (name in entries or name in read) and lake.exists(contract):
            version, apart = graph.apart(contract)
            state = _state(lake, contract, version, entries.get(name, []))
            contents = {part: held for part, held in state.contents.items() if part not in apart}
            for repo in (each for each, at in apart.items() if at >= 0):
                told = json.loads(latest[GRAPH_VERSIONS.name, repo].input_versions)
                contents[repo] = told.get(name) or f"version {apart[repo]}"
            states[name] = replace(state, apart=apart, contents=contents)
    return states


def _state(lake: Lake, contract: TableContract, version: int, entries: list[Entry]) -> SourceState:
    size = lake.size(contract)
    codes = sorted({entry.code_version for entry in entries})
    contents = {entry.partition: entry.data_version or f"version {version}" for entry in entries}
    return SourceState(
        code_version=codes[0] if len(codes) == 1 else fingerprint(codes),
        table_version=version,
        contents=contents or {"": f"version {version}"},
        rows=size.rows or 0,
        bytes=size.bytes,
    )


def built_tables(lake: Lake, tables: Iterable[str]) -> dict[str, Built]:
    """Which of these tables are there, and what each of their parts was made from."""
    there = [named(table) for table in sorted(set(tables)) if table and lake.exists(named(table))]
    latest = Ledger(lake).latest(there)
    return {contract.name: _built(lake, contract, latest) for contract in there}


def _built(lake: Lake, contract: TableContract, latest: Mapping[EntryKey, Entry]) -> Built:
    parts = {
        partition: BuiltPart(sources=entry.cursor, inputs=json.loads(entry.input_versions), content=entry.data_version)
        for (asset, partition), entry in latest.items()
        if asset == contract.name and entry.cursor
    }
    return Built(table_version=lake.open(contract).version(), parts=parts)
