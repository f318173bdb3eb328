"""The server, used by the client of the package mcp over stdin and stdout, and ended in each way."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from gpuprof.base.processes import own_program
from gpuprof.errors import UsageError
from gpuprof.mcp_server.tools import TOOLS
from gpuprof.mcp_server.workspace import Workspace
from tests.support import tools
from tests.support.command import gpuprof, names, write_files

tools.module("mcp.server", "")
anyio = tools.module("anyio", "")

from gpuprof.mcp_server.child import Limits, run_command  # noqa: E402

KERNEL = """\
// LAUNCH: scale<<<4, 64>>>(1, x: f32[256]=ones, y: f32[256])
__global__ void scale(int turns, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int turn = 0; turn < turns; turn++)
        y[i] = 2 * x[i];
}
"""
LAUNCH = KERNEL.splitlines()[0].removeprefix("// LAUNCH: ")
FROM_FILE = LAUNCH.replace("=ones", "=../secret.npy")
SLOW = LAUNCH.replace("(1,", "(64,")
FILES = {
    "secret.h": "int a_secret;\n",
    "k/fast.cu": KERNEL,
    "k/quoting.cu": '#define FILE "../secret.h"\n#include FILE\n' + KERNEL,
    "k/program.cu": "int main() { return 0; }\n",
    "k/script.py": "",
}
FLAGS = ("--memory", "2GiB", "--max-output", "6K")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The server's folder; next to it is what no call may reach."""
    outside = write_files(tmp_path_factory.mktemp("mcp"), FILES)
    np.save(outside / "secret.npy", np.ones(256, np.float32))
    (outside / "k" / "linked.cu").symlink_to("../fast.cu")
    (outside / "k" / "linked.gprec").symlink_to("../made.gprec")
    return outside / "k"


@contextmanager
def session_with(folder: Path, *flags: str):
    """A function that calls a tool of a server with `flags`, and gives the structured result with its texts."""
    from anyio.from_thread import start_blocking_portal
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    command, *words = [*own_program(), "mcp", str(folder), *flags]
    environment = {name: os.environ[name] for name in os.environ if name.startswith(("GPUPROF_", "XDG_", "NUMBA_"))}
    server = StdioServerParameters(command=command, args=words, env=environment)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(stdio_client(server))) as client:

        def call(name: str, **values):
            result = portal.call(client.call_tool, name, values)
            return result.structured_content | {"is_error": result.is_error, "texts": [c.text for c in result.content]}

        call.client, call.portal = client, portal
        yield call


@pytest.fixture(scope="module")
def call(folder):
    with session_with(folder, *FLAGS) as function:
        yield function


def test_the_tools_are_listed(call):
    listed = call.portal.call(call.client.list_tools).tools
    assert [tool.name for tool in listed] == [tool.name for tool in TOOLS]
    collect = listed[0]
    assert collect.input_schema["required"] == ["file", "output"] and "arguments" not in collect.input_schema
    assert (collect.annotations.read_only_hint, listed[1].annotations.read_only_hint) == (False, True)
    assert all(tool.description and tool.output_schema["required"] for tool in listed)


def test_a_kernel_is_tuned(call, folder):
    """Collect, report, write a baseline, collect a slower launch, check, diff; a page that is too long."""
    fast = call("collect", file="fast.cu", output="fast.gprec", expect=["y=2"])
    assert (fast["exit_code"], fast["is_error"], fast["note"]) == (0, False, "")
    assert fast["command"] == "gpuprof collect --output=fast.gprec --expect=y=2 fast.cu"
    assert fast["texts"] == [fast["stdout"], f"{fast['stderr']}[{fast['command']}: exit code 0]"]
    assert fast["stdout"].startswith("scale<<<4, 64>>>  ") and "y == 2: all 256 elements" in fast["stdout"]

    assert call("check", file="fast.gprec", baseline="base.txt", update=True)["exit_code"] == 0
    assert call("collect", file="fast.cu", output="slow.gprec", launch=[SLOW])["exit_code"] == 0
    slower = call("check", file="slow.gprec", baseline="base.txt")
    assert (slower["exit_code"], slower["is_error"]) == (3, False)
    assert slower["stdout"].startswith("regressed  scale<<<4, 64>>>: cycles ")

    diff = call("diff", before="fast.gprec", after="slow.gprec", format="markdown")
    assert diff["exit_code"] == 0 and "scale" in diff["stdout"]

    page = call("report", file="slow.gprec", page="isa")
    _, whole, _ = gpuprof(folder, "report", "slow.gprec", "--page", "isa")
    head, mark, tail = page["stdout"].partition("[... ")
    assert whole.startswith(head) and whole.endswith(tail.partition("\n")[2])
    assert mark and len(head) + len(tail) < 6200 < len(whole)
    assert page["note"].startswith("stdout is shortened to 6,144 bytes, the server's --max-output")


@pytest.mark.parametrize(
    "tool, values, message",
    [
        ("collect", {"file": "../fast.cu"}, "file: ../fast.cu: give a path relative to the server's folder, without "),
        ("collect", {"file": "linked.cu"}, "file: linked.cu: a link leads out of the server's folder"),
        ("collect", {"file": "fast.cu", "output": "linked.gprec"}, "output: linked.gprec: a link leads out of the "),
        ("collect", {"file": "script.py"}, "file: script.py: expected a .cu, .cuh, .ptx or .gpubin file: scripts, "),
        ("collect", {"file": "program.cu"}, "program.cu: is a whole program, whose host code would run on this"),
        pytest.param("diff", {"before": "program.cu", "after": "fast.cu"}, "program.cu: is a whole program, whose host",
                     marks=pytest.mark.long),
        ("collect", {"file": "fast.cu", "launch": [FROM_FILE]}, "--launch: ../secret.npy: is outside of "),
        ("collect", {"file": "quoting.cu"}, "../secret.h: is outside of "),
    ],
)  # fmt: skip
def test_refusals(call, folder, tool, values, message):
    before = names(folder.parent)
    output = {"output": "refused.gprec"} if tool == "collect" else {}
    refused = call(tool, **output | values)
    assert (refused["exit_code"], refused["is_error"], refused["stdout"]) == (2, True, "")
    assert refused["stderr"].startswith(f"gpuprof: {message}")
    assert "--allow-programs" in refused["stderr"] or "program" not in message
    assert "a_secret" not in str(refused)
    assert names(folder.parent) == before


# Limits of a call, and its end.

SLEEPER = """\
import os, subprocess, time
child = subprocess.Popen(["sleep", "1000"])
open("started.new", "w").write(f"{os.getpid()} {child.pid}")
os.rename("started.new", "started")
time.sleep(1000)
"""


@pytest.fixture
def sleeping(tmp_path):
    """A folder with a script that sleeps, and has a child that does; once it runs, `started` has their numbers."""
    (tmp_path / "sleeper.py").write_text(SLEEPER)
    return tmp_path.resolve()


def sleepers(folder: Path) -> list[int]:
    """The numbers of the script's processes, when both run."""
    wait_until((folder / "started").exists)
    return [int(number) for number in (folder / "started").read_text().split()]


def wait_until(condition) -> None:
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("it does not happen")


def is_gone(process: int) -> bool:
    """True for a process that is no more, or has ended and is still in the system's list."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


WORDS = ["collect", "--output=a.gprec", "sleeper.py"]
ROOMY = Limits(100, 2 << 30, 1 << 20)


def test_memory(folder):
    launch = LAUNCH.replace("y: f32[256]", "y: f32[1000000000]")
    words = ["collect", "--output=large.gprec", f"--launch={launch}", "fast.cu"]
    outcome = anyio.run(run_command, words, Workspace(folder.resolve()), ROOMY)
    assert (outcome.exit_code, outcome.note) == (1, "A process may use 2 GiB of memory, the server's --memory.")
    assert "f32[1000000000]" in outcome.stderr


def test_time(sleeping):
    outcome = anyio.run(run_command, WORDS, Workspace(sleeping, True), ROOMY._replace(seconds=0.5))
    assert (outcome.exit_code, outcome.note) == (None, "Stopped after 0.5 s, the server's --timeout.")


def test_a_call_that_is_no_longer_wanted_ends_with_all_that_it_started(sleeping):
    async def cancelled() -> list[int]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run_command, WORDS, Workspace(sleeping, True), ROOMY)
            found = await anyio.to_thread.run_sync(sleepers, sleeping)
            assert not any(map(is_gone, found))
            tasks.cancel_scope.cancel()
        return found

    found = anyio.run(cancelled)
    wait_until(lambda: all(map(is_gone, found)))  # a killed process has closed its pipes before the system says so


def test_a_folder_that_has_vanished(tmp_path):
    with pytest.raises(UsageError, match=r"^cannot run gpuprof in /.*/none: No such file or directory$"):
        anyio.run(run_command, WORDS, Workspace(tmp_path / "none"), ROOMY)


def test_settings_of_numba_are_refused(tmp_path):
    (tmp_path / ".numba_config.yaml").write_text("debug: 1\n")
    with pytest.raises(UsageError, match=r"^\.numba_config\.yaml: the server's folder must not have settings of Numba"):
        anyio.run(run_command, WORDS, Workspace(tmp_path), ROOMY)


def request(number: int, method: str, **values) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": values}).encode() + b"\n"


CLIENT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


@pytest.mark.parametrize(
    "end, code, error",
    [
        ("stdin", 0, b""),
        pytest.param(signal.SIGINT, 130, b"gpuprof: interrupted\n", marks=pytest.mark.long),
        pytest.param(signal.SIGTERM, 143, b"gpuprof: terminated\n", marks=pytest.mark.long),
        pytest.param(signal.SIGKILL, -9, b"", marks=pytest.mark.long),
    ],
)
def test_the_end_of_the_server_is_that_of_a_call(sleeping, end, code, error):
    """The second call waits for the first, and never starts. Of a server that is killed, the system ends the call's
    process; what a script has started is not among it.
    """
    command = [*own_program(), "mcp", str(sleeping), "--allow-programs"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as server:
        server.stdin.write(request(1, "initialize", **CLIENT))
        for number, name in ((2, "a"), (3, "b")):
            values = {"file": "sleeper.py", "output": f"{name}.gprec"}
            server.stdin.write(request(number, "tools/call", name="collect", arguments=values))
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["id"] == 1
        found = sleepers(sleeping)
        if end == "stdin":
            server.stdin.close()
        else:
            server.send_signal(end)
        assert (server.wait(100), server.stderr.read()) == (code, error)
    wait_until(lambda: all(map(is_gone, found[:1] if end == signal.SIGKILL else found)))
    if not is_gone(found[1]):
        os.kill(found[1], signal.SIGKILL)
    assert not (sleeping / "b.gprec").exists()


@pytest.mark.long
def test_stdin_that_says_nothing_of_use(tmp_path):
    text = b'no JSON\n{"jsonrpc": "2.0", "id": 1, "method": "no/such"}\n\xff'
    done = subprocess.run([*own_program(), "mcp"], input=text, cwd=tmp_path, capture_output=True, timeout=100)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)


@pytest.mark.parametrize(
    "flags, message",
    [
        (("none",), "'none' does not exist"),
        (("--timeout", "0s"), "'0s' is not a time, such as 90s, 10m or 1h"),
        (("--memory", "512M"), "--memory: gpuprof itself needs 1 GiB; give more"),
    ],
)
def test_flags(tmp_path, flags, message):
    code, _, error = gpuprof(tmp_path, "mcp", *flags)
    assert code == 2 and message in error


def test_without_the_package_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    monkeypatch.delitem(sys.modules, "gpuprof.mcp_server.server", raising=False)
    code, _, error = gpuprof(tmp_path, "mcp")
    assert code == 2 and "install it with: pip install 'gpuprof[mcp]'" in error
