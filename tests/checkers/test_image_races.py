"""racecheck: textures and surfaces, within a launch and between launches."""

from typing import NamedTuple

import numpy as np
import pytest

from gpuprof.device.streams import Stream
from gpuprof.trace.checkers.racecheck import Racecheck
from tests.support.planted import Planted


class Case(NamedTuple):
    """A kernel body for a block of 64 threads: `tex` and `surf` are of the 64 ints at x; the kinds that are found."""

    name: str
    body: str
    kinds: tuple[str, ...] = ()


WW, WR, RW = ("global_write_write_race",), ("global_write_read_race",), ("global_read_write_race",)
READ = "surf1Dread<int>(surf, (t + 1) % 64 * 4)"
CASES = [
    Case("stores_beside_fetch", "y[t] = tex1Dfetch<int>(tex, (t + 1) % 64); x[t] = t;", RW),
    Case("fetch", "y[t] = tex1Dfetch<int>(tex, (t + 1) % 64) + x[t];"),
    Case("write", "surf1Dwrite(t, surf, t * 4);"),
    Case("write_of_one", "surf1Dwrite(t, surf, 4);", WW),
    Case("write_of_one_value", "surf1Dwrite(7, surf, 4);"),
    Case("write_of_another_value", "surf1Dwrite(7, surf, t * 4); surf1Dwrite(8, surf, (t + 1) % 64 * 4);", WW),
    Case("write_of_the_same_value", "surf1Dwrite(7, surf, t * 4); surf1Dwrite(7, surf, (t + 1) % 64 * 4);"),
    Case("write_of_what_is_stored", "x[t] = 7; surf1Dwrite(7, surf, (t + 1) % 64 * 4);"),
    Case("write_of_other_than_is_stored", "x[t] = 7; surf1Dwrite(8, surf, (t + 1) % 64 * 4);", WW),
    Case("store_of_what_is_written", "surf1Dwrite(7, surf, t * 4); x[(t + 1) % 64] = 7;"),
    Case("store_of_other_than_is_written", "surf1Dwrite(7, surf, t * 4); x[(t + 1) % 64] = 8;", WW),
    Case("write_of_bytes", "surf1Dwrite((char)t, surf, t);"),
    Case("read_of_a_neighbour", f"surf1Dwrite(t, surf, t * 4); y[t] = {READ};", WR),
    Case("read_behind_a_barrier", f"surf1Dwrite(t, surf, t * 4); __syncthreads(); y[t] = {READ};"),
    Case("read_and_written", f"y[t] = {READ}; surf1Dwrite(t, surf, t * 4);", RW),
]
FETCH = "y[t] = tex1Dfetch<int>(tex, t);"


class Rig(NamedTuple):
    """`arguments`: arrays x and y of 64 ints, a texture and a surface of x."""

    planted: Planted
    arguments: tuple
    streams: list

    def run(self, name: str, stream: int = 0) -> list[str]:
        """The kinds that are found in a launch."""
        return [
            each.kind for each in self.planted.run(name, 1, 64, *self.arguments, stream=self.streams[stream].number)
        ]


def rig_in(folder) -> Rig:
    bodies = {case.name: case.body for case in CASES} | {"put": "x[t] = t;", "get": FETCH, "nothing": "y[t] = 1;"}
    source = "".join(
        f'extern "C" __global__ void {name}(int *x, int *y, cudaTextureObject_t tex, cudaSurfaceObject_t surf)'
        f"{{ int t = threadIdx.x; {body} }}\n"
        for name, body in bodies.items()
    )
    planted = Planted(folder, source, Racecheck())
    gpu = planted.device
    x, y = gpu.to_device(np.zeros(64, np.int32)), gpu.device_array(64, np.int32)
    arguments = (x, y, gpu.texture(x, "1d").handle, gpu.surface(x, "1d").handle)
    return Rig(planted, arguments, [Stream(gpu.submit, 0), gpu.stream(), gpu.stream()])


@pytest.fixture(scope="module")
def rig(tmp_path_factory):
    return rig_in(tmp_path_factory.mktemp("images"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_planted(rig, case):
    rig.planted.device.synchronize()
    assert set(rig.run(case.name)) == set(case.kinds)


@pytest.mark.parametrize(
    "first, second, kinds",
    [
        ("put", "get", ["stream_write_read_race"]),
        ("get", "put", ["stream_read_write_race"]),
        ("write", "get", ["stream_write_read_race"]),
        ("fetch", "nothing", ["stream_write_write_race"]),  # of y
    ],
)
def test_between_launches(rig, first, second, kinds):
    rig.planted.device.synchronize()
    rig.run(first, 1)
    assert rig.run(second, 2) == kinds
    rig.planted.device.synchronize()
    rig.run(first, 1)
    rig.streams[1].synchronize()
    assert rig.run(second, 2) == []
