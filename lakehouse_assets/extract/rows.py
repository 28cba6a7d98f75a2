"""Contents in, rows of `extracts` out: on a worker or in this process."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa

from lakehouse_assets.contracts.extracts import EXTRACTS
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.extract.extractor import extract
from lakehouse_assets.extract.facts import Facts
from lakehouse_assets.extract.packing import pack

_ROWS_PER_BATCH = 64
"""Payloads are let go in small batches, so that a worker's memory does not grow with its share."""


def extract_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Local facts of contents that come as blob_sha, language, extractor and text."""
    schema = arrow_schema(EXTRACTS.columns)
    for batch in batches:
        for start in range(0, batch.num_rows, _ROWS_PER_BATCH):
            part = batch.slice(start, _ROWS_PER_BATCH)
            languages = part["language"].to_pylist()
            found = [
                _without_text(language) if text is None else extract(text, language)
                for text, language in zip(part["text"].to_pylist(), languages, strict=True)
            ]
            columns = {
                "blob_sha": part["blob_sha"],
                "language": part["language"],
                "extractor": part["extractor"],
                "parser": [facts.parser for facts in found],
                "status": [facts.status for facts in found],
                "diagnostics": [list(facts.diagnostics) for facts in found],
                "line_count": [facts.lines for facts in found],
                "def_count": [len(facts.defs["kind"]) for facts in found],
                "node_count": [len(facts.nodes["n"]) for facts in found],
                "edge_count": [len(facts.edges["kind"]) for facts in found],
                "summary": [json.dumps(facts.summary, separators=(",", ":")) for facts in found],
                "payload": [pack(facts) for facts in found],
            }
            yield pa.record_batch([_as(columns[f.name], f.type) for f in schema], schema=schema)


def _without_text(language: str) -> Facts:
    """Facts of a file of which nothing is known but that it is there."""
    nothing = extract("", language)
    return replace(nothing, parser="none", status="failed", diagnostics=("1:0: the content is not kept as text",))


def _as(values: Any, kind: pa.DataType) -> pa.Array:
    """An Arrow array, from one of another type or from a list."""
    return values.cast(kind) if isinstance(values, pa.Array) else pa.array(values, kind)
