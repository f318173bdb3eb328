"""A call of a tool as the words of a command line, and a tool's parameters as a JSON schema: both follow the table."""

from collections.abc import Iterator, Mapping
from typing import Any

from gpuprof.base.wording import suggestion
from gpuprof.errors import UsageError
from gpuprof.mcp_server.tools import REST, TOOLS, Parameter, Tool
from gpuprof.mcp_server.values import Switch, listed
from gpuprof.mcp_server.workspace import Workspace

MOST_ITEMS = 64  # of a list
POSITIONAL = "{}"


def parameters_of(tool: Tool, allows_programs: bool) -> list[Parameter]:
    return [parameter for parameter in tool.parameters if allows_programs or not parameter.of_programs]


def schema_of(tool: Tool, allows_programs: bool) -> dict[str, Any]:
    """The JSON schema of a tool's parameters."""
    parameters = parameters_of(tool, allows_programs)
    return {
        "type": "object",
        "properties": {parameter.name: _schema_of(parameter) for parameter in parameters},
        "required": [parameter.name for parameter in parameters if parameter.is_required],
        "additionalProperties": False,
    }


def _schema_of(parameter: Parameter) -> dict[str, Any]:
    schema = listed(parameter.kind.schema, MOST_ITEMS) if parameter.is_list else dict(parameter.kind.schema)
    default = {} if parameter.default is None else {"default": parameter.default}
    return {**schema, "description": parameter.text, **default}


def command_line(name: str, values: Mapping[str, Any], workspace: Workspace) -> list[str]:
    """The words of the command, the tool's name first: options, files, then a program's arguments after `--`.

    Raises UsageError for a tool or parameter that there is not, one that is missing, and a value that is not allowed.
    """
    tool = next((tool for tool in TOOLS if tool.name == name), None)
    if tool is None:
        raise UsageError(f"there is no tool {name}; there are {', '.join(tool.name for tool in TOOLS)}")
    parameters = parameters_of(tool, workspace.allows_programs)
    _check_names(tool, values, parameters)
    words: dict[str, list[str]] = {"options": [], POSITIONAL: [], REST: []}
    for parameter in parameters:
        value = values.get(parameter.name)
        given = parameter.default if value is None else value
        if given is not None:
            words.setdefault(_place(parameter), []).extend(_words(parameter, given, workspace))
    arguments = ["--", *words[REST]] if words[REST] else []
    return [tool.name, *tool.words, *words["options"], *words[POSITIONAL], *arguments]


def _check_names(tool: Tool, values: Mapping[str, Any], parameters: list[Parameter]) -> None:
    names = [parameter.name for parameter in parameters]
    for name in values:
        if name not in names:
            near = suggestion(name, names) or f"it has {', '.join(names)}"
            raise UsageError(f"{tool.name} has no parameter {name}; {near}")
    missing = [each.name for each in parameters if each.is_required and values.get(each.name) is None]
    if missing:
        raise UsageError(f"{tool.name} needs {' and '.join(missing)}")


def _place(parameter: Parameter) -> str:
    return parameter.form if parameter.form in (POSITIONAL, REST) else "options"


def _words(parameter: Parameter, given: Any, workspace: Workspace) -> Iterator[str]:
    if parameter.is_list and not isinstance(given, list):
        raise UsageError(f"{parameter.name}: expected a list")
    if parameter.is_list and len(given) > MOST_ITEMS:
        raise UsageError(f"{parameter.name}: has {len(given):,} items; the limit is {MOST_ITEMS}")
    for value in given if parameter.is_list else [given]:
        try:
            word = parameter.kind.word(value, workspace)
        except UsageError as error:
            raise UsageError(f"{parameter.name}: {error}") from None
        if isinstance(parameter.kind, Switch):
            yield from [parameter.form] if word else []
        else:
            yield word if parameter.form == REST else parameter.form.replace("{}", word)
