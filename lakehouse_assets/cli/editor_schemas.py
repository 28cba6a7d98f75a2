"""JSON schemas of a project's YAML files, for editors: they complete names and underline what will be refused."""

import json
from collections.abc import Mapping
from typing import Any

from lakehouse_assets.contracts.ingest import SqlProject
from lakehouse_assets.models.header import Header
from lakehouse_assets.models.transforms.steps import STEPS

INGEST, MODEL = "schemas/ingest.json", "schemas/model.json"


def schema_files() -> Mapping[str, str]:
    return {path: json.dumps(schema, indent=1) + "\n" for path, schema in ((INGEST, _ingest()), (MODEL, _model()))}


def _ingest() -> dict[str, Any]:
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **SqlProject.model_json_schema()}


def _model() -> dict[str, Any]:
    """A file `NAME.model.yaml`: the header, what it reads, and the steps. Its name is the file's unless it says one."""
    header, steps = Header.model_json_schema(), STEPS.json_schema()
    columns = header["properties"]["columns"]
    columns["additionalProperties"] = {"anyOf": [{"type": "string"}, columns["additionalProperties"]]}
    own = {"from": {"type": "string", "description": "The table or model that the first step reads."}}
    definitions = {**header.pop("$defs", {}), **steps.pop("$defs", {})}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **header,
        "title": "A model as a list of steps",
        "properties": {**header["properties"], **own, "steps": steps},
        "required": ["from", "steps"],
        "$defs": definitions,
    }
