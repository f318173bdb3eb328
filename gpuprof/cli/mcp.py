"""gpuprof mcp: tools for agents that tune kernels, over stdin and stdout."""

from pathlib import Path

import click

from gpuprof.cli.options.command_options import options
from gpuprof.cli.options.help_page import GroupedCommand
from gpuprof.cli.options.option import LIMITS, SWITCH, Given, Option
from gpuprof.cli.options.value_types import Seconds, Size
from gpuprof.errors import UsageError

LEAST_MEMORY_NBYTES = 1 << 30  # gpuprof, its libraries and a small kernel take 0.6 GB of addresses

OWN = (
    Option("--timeout", "timeout_seconds", "Stop a call after this time.", metavar="TIME", type=Seconds(),
           default="120s", group=LIMITS),
    Option("--memory", "memory_nbytes", "Memory that each process of a call may have, at least 1 GiB.",
           metavar="SIZE", type=Size(), default="4GiB", group=LIMITS),
    Option("--max-output", "output_nbytes", "Shorten what a call prints to this size.", metavar="SIZE", type=Size(),
           default="32KiB", group=LIMITS),
    Option("--allow-programs", "allows_programs",
           "Also run scripts and whole programs, whose host code can do on this machine whatever you can.",
           form=SWITCH, group=LIMITS),
)  # fmt: skip


@click.command("mcp", cls=GroupedCommand, short_help="Serve tools for agents that tune kernels (MCP).")
@click.argument("folder", default=".", type=click.Path(path_type=Path, exists=True, file_okay=False))
@options("mcp", *OWN)
def command(folder: Path, given: Given):
    """Serve the tools collect, report, advise, whatif, diff and check to an agent, by the Model Context Protocol on
    stdin and stdout. An MCP client starts it.

    The tools read and write files in FOLDER. They run kernels with launches.

    \b
    gpuprof mcp kernels
    gpuprof mcp kernels --timeout 10m --memory 16GiB
    """
    if given.memory_nbytes < LEAST_MEMORY_NBYTES:
        raise UsageError("--memory: gpuprof itself needs 1 GiB; give more")
    try:
        from gpuprof.mcp_server.server import serve
    except ImportError as error:
        raise UsageError(
            f"the package mcp cannot be imported ({error}); install it with: pip install 'gpuprof[mcp]'"
        ) from None
    from gpuprof.mcp_server.child import Limits
    from gpuprof.mcp_server.workspace import Workspace

    limits = Limits(given.timeout_seconds, given.memory_nbytes, given.output_nbytes)
    serve(Workspace(folder.resolve(), given.allows_programs), limits)
