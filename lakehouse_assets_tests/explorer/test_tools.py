"""The tools for assistants, asked by a real client: in process, and of the command itself."""

import asyncio
import os
from typing import Any

from mcp import Client, StdioServerParameters

from lakehouse_assets.cli.explore import runs_of
from lakehouse_assets.explorer.asked import asked_of
from lakehouse_assets.explorer.tools import mcp_server
from lakehouse_assets_tests.explorer.conftest import Explored
from lakehouse_assets_tests.support.command import LAKEHOUSE

Call = tuple[str, dict[str, Any]]


def called(explored: Explored, *calls: Call) -> list[Any]:
    """The answers of the tools, in order; the error's text where one refuses."""

    async def ask() -> list[Any]:
        async with Client(mcp_server(asked_of(explored.settings, runs_of(explored.settings)))) as client:
            results = [await client.call_tool(name, arguments) for name, arguments in calls]
        return [r.content[0].text if r.is_error else r.structured_content for r in results]  # type: ignore[union-attr]

    return asyncio.run(ask())


def test_every_tool_is_described_read_only_and_says_what_its_parameters_mean(explored: Explored):
    async def ask() -> Any:
        async with Client(mcp_server(asked_of(explored.settings, runs_of(explored.settings)))) as client:
            return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in asyncio.run(ask())}
    assert set(tools) == {"find_symbol", "callers", "callees", "importers", "source", "impact", "commit_diff"}
    for tool in tools.values():
        assert tool.description
        assert tool.annotations.read_only_hint
        for name, schema in tool.input_schema["properties"].items():
            assert schema.get("description"), f"{tool.name} {name}"


def test_questions_are_answered_in_short_rows_with_the_way_to_the_next_page(explored: Explored):
    found, callers, page, source = called(
        explored,
        ("find_symbol", {"query": "cart.pri"}),
        ("callers", {"symbol": "main.run"}),
        ("find_symbol", {"query": "total", "repo": "shop", "limit": 1}),
        ("source", {"symbol": "Cart.priced"}),
    )
    assert [each["name"] for each in found["items"]] == ["shop.cart.Cart.priced"]
    assert callers["items"] == [
        {"name": "web.view.show", "where": "web: web/view.py:5", "confidence": "certain", "method": "import"}
    ]
    assert (page["total"], page["next_offset"], len(page["items"])) == (2, 1, 1)
    assert source["source"].endswith("return count")


def test_a_commit_can_be_named_and_changes_are_told(explored: Explored):
    first, _ = explored.commits["shop"]
    now, before, diff, impact = called(
        explored,
        ("callees", {"symbol": "shop.main.main"}),
        ("callees", {"symbol": "shop.main.main", "repo": "shop", "at": first}),
        ("commit_diff", {"repo": "shop"}),
        ("impact", {"symbol": "Cart.priced", "steps": 1}),
    )
    assert [each["name"] for each in now["items"]] == ["shop.cart.Cart"]
    assert [each["name"] for each in before["items"]] == ["shop.main.run"]
    assert [each["what"] for each in diff["items"]] == ["function main()"]
    assert {(each["who"], each["because"]) for each in impact["items"]} >= {("shop.cart.Cart.total", "calls")}


def test_what_is_unclear_is_answered_with_candidates_and_what_is_wrong_with_the_remedy(explored: Explored):
    unclear, unknown, refused = called(
        explored,
        ("callers", {"symbol": "total"}),
        ("callers", {"symbol": "no.such.priced"}),
        ("callers", {"symbol": "Cart", "at": "abc"}),
    )
    assert {each["name"] for each in unclear["candidates"]} == {"shop.cart.Base.total", "shop.cart.Cart.total"}
    assert unknown["problem"] == "none has this name"
    assert "What to do: name the repository as well" in refused


def test_the_command_serves_an_assistant_on_its_standard_streams(explored: Explored):
    async def ask() -> Any:
        env = {**os.environ, "LAKEHOUSE_HOME": str(explored.settings.home)}
        command = StdioServerParameters(command=str(LAKEHOUSE), args=["mcp"], env=env)
        async with Client(command, read_timeout_seconds=60) as client:
            return (await client.call_tool("find_symbol", {"query": "Cart"})).structured_content

    assert asyncio.run(ask())["items"][0]["name"] == "shop.cart.Cart"
