"""The server: the tools of the table over stdin and stdout, one call at a time, until stdin is closed."""

import signal
from collections.abc import Sequence
from typing import Any, cast

import anyio
import mcp_types as types
from mcp.server import Server
from mcp.server.stdio import stdio_server

from gpuprof.base.interrupts import SIGNALS, Ended
from gpuprof.base.wording import installed_version
from gpuprof.errors import UsageError
from gpuprof.mcp_server.child import Limits, command_text, run_command
from gpuprof.mcp_server.command_line import command_line, schema_of
from gpuprof.mcp_server.outcome import SCHEMA, Outcome, refused
from gpuprof.mcp_server.stdin_lines import stdin_lines
from gpuprof.mcp_server.tools import TOOLS
from gpuprof.mcp_server.workspace import Workspace

INSTRUCTIONS = """\
gpuprof profiles CUDA kernels on an emulated GPU, exactly and repeatably; no GPU is needed. Paths are relative to the \
server's folder. To tune a kernel: `collect` it with `expect`, read `report` or `advise`, change the source, `collect` \
again under another name, `diff` the two recordings."""


def serve(workspace: Workspace, limits: Limits) -> None:
    """Serves until stdin is closed. Raises Ended for a signal. A call that is running is ended first."""
    number = anyio.run(_serve, workspace, limits)
    if number is not None:
        raise Ended(number)


async def _serve(workspace: Workspace, limits: Limits) -> int | None:
    """The signal that ended it; None when stdin was closed, or stdout has no reader any more."""
    received: list[int] = []
    server = _server(workspace, limits)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_cancel_at_signals, tasks.cancel_scope, received)
            # what iterates over lines is all that it needs of a file
            async with stdio_server(stdin=cast(Any, stdin_lines())) as (requests, answers):
                await server.run(requests, answers, server.create_initialization_options())
            tasks.cancel_scope.cancel()
    except* BrokenPipeError:
        pass
    return received[0] if received else None


async def _cancel_at_signals(scope: anyio.CancelScope, received: list[int]) -> None:
    heard = [number for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
    with anyio.open_signal_receiver(*map(signal.Signals, heard)) as signals:
        async for number in signals:
            received.append(number)
            scope.cancel()


def _server(workspace: Workspace, limits: Limits) -> Server:
    one_at_a_time = anyio.Lock()

    async def list_tools(context: Any, request: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=_described(workspace.allows_programs))

    async def call_tool(context: Any, request: types.CallToolRequestParams) -> types.CallToolResult:
        async with one_at_a_time:
            return _result(await _called(request, workspace, limits))

    return Server(
        "gpuprof",
        version=installed_version(),
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _described(allows_programs: bool) -> list[types.Tool]:
    return [
        types.Tool(
            name=tool.name,
            description=tool.text,
            input_schema=schema_of(tool, allows_programs),
            output_schema=SCHEMA,
            annotations=types.ToolAnnotations(
                read_only_hint=tool.is_read_only, destructive_hint=False, open_world_hint=False
            ),
        )
        for tool in TOOLS
    ]


async def _called(request: types.CallToolRequestParams, workspace: Workspace, limits: Limits) -> Outcome:
    words: Sequence[str] = (request.name,)
    try:
        words = command_line(request.name, request.arguments or {}, workspace)
        return await run_command(words, workspace, limits)
    except UsageError as error:
        return refused(command_text(words), error)


def _result(outcome: Outcome) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text) for text in outcome.texts()],
        structured_content=outcome.as_dict,
        is_error=outcome.is_error,
    )
