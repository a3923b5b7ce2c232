"""The SDK's own client talks to `tracealyze mcp` over standard input and output."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from conftest import SAMPLES

from tracealyze.render.brief import tokens_of

pytestmark = pytest.mark.consumers

MAX_SCHEMA_TOKENS = 1500


def asked(question: Callable[[Any], Awaitable[Any]]) -> Any:
    """The answer to a question to a new server."""
    mcp = pytest.importorskip("mcp", reason='mcp is not installed: pip install "mcp>=2"')

    async def session() -> Any:
        command = mcp.StdioServerParameters(
            command=sys.executable, args=["-m", "tracealyze", "mcp", "--root", str(SAMPLES)]
        )
        async with mcp.stdio_client(command) as (reading, writing), mcp.ClientSession(reading, writing) as client:
            await client.initialize()
            return await question(client)

    return asyncio.run(session())


def test_tools_are_few_short_and_only_read() -> None:
    tools = asked(lambda client: client.list_tools()).tools
    assert {tool.name for tool in tools} == {"summary", "finding", "events", "diff", "explain"}
    assert all(tool.annotations.read_only_hint for tool in tools)
    schemas = json.dumps([tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools])
    assert tokens_of(schemas) <= MAX_SCHEMA_TOKENS


@pytest.mark.parametrize(
    ("tool", "arguments", "part"),
    [
        ("summary", {"capture": "ssh-login/ssh-login.truss"}, "error hot-loop"),
        ("finding", {"capture": "ssh-login/ssh-login.truss", "number": 1}, "| 199: 12200:"),
        ("events", {"capture": "ssh-login/ssh-login.truss", "where": "dur_ns >= 60ms"}, "| 316 12200"),
        ("diff", {"before": "shutdown/before.strace.xz", "after": "shutdown/after.strace.xz"}, "41.27 s -> 16.60 s"),
        ("explain", {"rule": "TLZ002"}, "hot-loop"),
    ],
)
def test_answers_reach_the_client(tool: str, arguments: dict[str, Any], part: str) -> None:
    answer = asked(lambda client: client.call_tool(tool, arguments))
    assert not answer.is_error
    [content] = answer.content
    assert part in content.text
    assert tokens_of(content.text) <= 2000


def test_errors_are_one_sentence() -> None:
    answer = asked(lambda client: client.call_tool("summary", {"capture": "../pyproject.toml"}))
    assert answer.is_error
    assert "outside of the root directory" in answer.content[0].text
    assert "Traceback" not in answer.content[0].text
