"""What orders cost: events, the default stream, the host's waits; and proposals that are withdrawn, with the reason."""

import re

import pytest

from gpuprof.errors import NotComparable
from gpuprof.records.command_stream.read import read_stream
from gpuprof.run.reorder_experiment import listed, relaxed
from tests.support.command import gpuprof

KERNELS = """\
__global__ void spin(int n, float *x)
{
    float v = threadIdx.x;
    for (int i = 0; i < n; i++) v = v * 1.5f + i;
    x[threadIdx.x] = v;
}
__global__ void take(int n, unsigned long long *x)
{
    if (threadIdx.x == 0) x[0] = (unsigned long long)malloc(n);
}
"""
SCRIPT = """\
import numpy as np
import gpuprof

gpu = gpuprof.Device("a100")
kernels = gpu.load("k.cu")
spin, take = kernels.spin, kernels.take
a, b, c = (gpu.device_array(64, np.float32, name=name) for name in "abc")
p, q = (gpu.device_array(1, np.uint64, name=name) for name in "pq")
one, two, three = gpu.stream(), gpu.stream(), gpu.stream()
"""
EVENT = """\
spin[1, 64, one](9000, a)
event = gpu.event()
event.record(one)
event.wait(two)
spin[1, 64, two](6000, b)
"""
DEFAULT_STREAM = """\
spin[1, 64](9000, a)
spin[1, 64](6000, b)
"""
STREAM = """\
b.copy_to_device(np.ones(64, np.float32), one)
spin[1, 64, one](9000, a)
spin[1, 64, one](6000, b)
"""
HOST_WAIT = """\
spin[1, 64, one](900, a)
gpu.synchronize()
spin[1, 64, two](600, b)
"""
COPY_OUT = """\
spin[1, 64](900, a)
a.copy_to_host()
spin[1, 64](600, b)
"""
# Where the second gets its memory depends on what the first has taken.
MEMORY = """\
take[1, 32, one](1000, p)
event = gpu.event()
event.record(one)
event.wait(two)
take[1, 32, two](500, q)
"""
BETWEEN = EVENT.replace("spin[1, 64, two]", "spin[1, 64, three](5, c)\nspin[1, 64, two]")


def collect(folder, body: str) -> None:
    (folder / "k.cu").write_text(KERNELS)
    (folder / "s.py").write_text(SCRIPT + body)
    code, _, error = gpuprof(folder, "collect", "s.py", "--save-stream")
    assert code == 0, error


def related(folder, body: str) -> list[str]:
    """What relate --measure 1 says."""
    collect(folder, body)
    code, out, error = gpuprof(folder, "relate", "s.gprec", "--measure", "1")
    assert (code, error) == (0, "")
    return out.splitlines()


@pytest.mark.long
@pytest.mark.parametrize(
    "body, kind",
    [(EVENT, "event"), (DEFAULT_STREAM, "default stream"), (STREAM, "stream")],
    ids=["event", "default stream", "stream"],
)
def test_an_order_without_need_costs_the_shorter_launch(tmp_path, body, kind):
    """Both on one multiprocessor or on two: the shorter launch is hidden behind the longer, which is long
    next to the calls between them.
    """
    pair, chain, whole = related(tmp_path, body)
    told = re.fullmatch(
        r"spin \(task \d+\) and spin \(task \d+\): at most ([\d,]+) cycles \((.*)\); "
        r"measured: ([\d,]+) cycles gained, the same bytes",
        pair,
    )
    bound, gain = (int(told[k].replace(",", "")) for k in (1, 3))
    assert told[2] == kind
    assert 0.8 * bound < gain <= bound
    lengths = [int(re.search(r"([\d,]+) cycles", line)[1].replace(",", "")) for line in (chain, whole)]
    assert lengths[0] < lengths[1] - gain + 2000


@pytest.mark.long
@pytest.mark.parametrize(
    "body, reason",
    [
        (BETWEEN, "a launch is between them and waits for the first"),
        (MEMORY, "the results are others when the second goes first"),
    ],
    ids=["launch between", "other results"],
)
def test_why_a_proposal_is_withdrawn(tmp_path, body, reason):
    pair, *_ = related(tmp_path, body)
    assert pair.endswith(f"; withdrawn: {reason}"), pair


@pytest.mark.long
@pytest.mark.parametrize("body, what", [(HOST_WAIT, "wait"), (COPY_OUT, "copy to the host")], ids=["wait", "copy"])
def test_what_the_host_waits_for_keeps_launches_apart(tmp_path, body, what):
    collect(tmp_path, body)
    with pytest.raises(NotComparable, match=f"^a {what} is between them and waits for the first$"):
        relaxed(listed(read_stream(tmp_path / "s.gprec")), 0, 1)
