"""The tools as a section of docs/mcp.md: python -m gpuprof.mcp_server.reference"""

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from gpuprof.mcp_server.command_line import schema_of
from gpuprof.mcp_server.tools import TOOLS, Parameter, Tool

TITLE = "## Tools"
WIDTH = 100  # columns of prose


def section() -> str:
    return "\n".join([TITLE, "", *(line for tool in TOOLS for line in _lines(tool))])


def _lines(tool: Tool) -> Iterator[str]:
    yield from (f"### `{tool.name}`", "", *textwrap.wrap(tool.text, WIDTH, break_on_hyphens=False), "")
    yield from ("| parameter | value | meaning |", "|---|---|---|")
    properties = schema_of(tool, allows_programs=True)["properties"]
    for parameter in tool.parameters:
        yield f"| `{parameter.name}` | {_value(properties[parameter.name])} | {_meaning(parameter)} |"
    yield ""


def _value(schema: Mapping[str, Any]) -> str:
    """ "list of texts", "integer from 0 to 3"."""
    if schema["type"] == "array":
        return f"list: {_value(schema['items'])}"
    if "enum" in schema:
        return ", ".join(f"`{word}`" for word in schema["enum"])
    names = {"string": "text", "boolean": "true or false"}
    return names.get(schema["type"], schema["type"])


def _meaning(parameter: Parameter) -> str:
    default = f" Default: {parameter.default}." if parameter.default is not None else ""
    condition = " Only with `--allow-programs`." if parameter.of_programs else ""
    return f"{'Required. ' if parameter.is_required else ''}{parameter.text}{default}{condition}".replace("|", r"\|")


if __name__ == "__main__":
    print(section(), end="")
