"""The OpenAPI document, from the endpoints themselves."""

from typing import Any

from lakehouse_assets import __version__
from lakehouse_assets.explorer.endpoints import ENDPOINTS, Endpoint

_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["subject", "seen", "why", "remedy"],
            "properties": {name: {"type": "string"} for name in ("subject", "seen", "why", "remedy")},
        }
    },
}
_REFUSALS = {
    "400": "The question cannot be read.",
    "404": "What was asked for, or is needed to answer, is not there.",
    "409": "The lake is in a state in which this cannot be told.",
}


def document() -> dict[str, Any]:
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "lakehouse_assets",
            "version": __version__,
            "description": "Questions about the code property graph. Read-only. An answer tells of one commit of each "
            "repository: the last that its graph was brought to, or the one named by `at`.",
        },
        "paths": {endpoint.path: {"get": _operation(endpoint)} for endpoint in ENDPOINTS},
        "components": {"schemas": {"Error": _ERROR}},
    }


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    answer = {"type": "object", "required": list(endpoint.keys)}
    return {
        "summary": endpoint.summary,
        "operationId": endpoint.path.removeprefix("/api/")
        .replace("/", "_")
        .translate({ord("{"): None, ord("}"): None}),
        "parameters": [
            {
                "name": each.name,
                "in": "path" if each.in_path else "query",
                "required": each.required or each.in_path,
                "description": each.description,
                "schema": each.schema,
            }
            for each in endpoint.parameters
        ],
        "responses": {
            "200": {"description": "The answer.", "content": {"application/json": {"schema": answer}}},
            **{
                code: {
                    "description": told,
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
                }
                for code, told in _REFUSALS.items()
            },
        },
    }
