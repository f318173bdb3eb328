"""Random command streams, and what is observed of them beside a replay that knows of every byte who wrote it last.

The replay takes each lane's address from a trace generator, so it shares nothing with the footprint of a launch.
"""

import random
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from gpuprof.correlate.database import ensure_database
from gpuprof.device import commands as cmd
from gpuprof.records.writer import RecordWriter
from gpuprof.relate.kinds import NEEDS
from gpuprof.run.session import open_device
from gpuprof.run.settings import Settings
from gpuprof.trace.generator import TraceGenerator
from tests.relate.test_flow import replay

KERNELS = """\
#define KERNEL(name) __global__ void name(unsigned char *to, const unsigned char *from, int first, int step, int n)
#define WORDS unsigned *out = (unsigned *)to; const unsigned *in = (const unsigned *)from
#define NUMBER int i = blockIdx.x * blockDim.x + threadIdx.x
// Copies n words to every step-th word, from a place on.
KERNEL(words) { WORDS; NUMBER; if (i < n) out[first + i * step] = in[i] + i; }
// The same of single bytes, by lanes that fall.
KERNEL(bytes) { NUMBER; if (i < n) to[first + (n - 1 - i) * step] = from[i] + 1; }
// Adds to a few words, and to one of them from all lanes.
KERNEL(sums) {
    WORDS; NUMBER;
    if (i < n) { atomicAdd(out + first, in[i]); out[first + 1 + i % 3] += step; }
}
// Writes, and reads what it has written itself.
KERNEL(twice) {
    WORDS; NUMBER;
    if (i < n) { volatile unsigned *p = out + first + i; *p = in[i]; *p = *p + step; }
}
// Vectors of four words, aligned.
KERNEL(vectors) { NUMBER; if (i < n / 4) ((uint4 *)to)[first / 4 + i] = ((const uint4 *)from)[i]; }
"""
NAMES = ("words", "bytes", "sums", "twice", "vectors")
NBYTES = 1024
WRITES = {"store": (False, True), "load": (True, False), "atomic": (True, True), "reduction": (True, True)}


class Lanes(TraceGenerator):
    """What each launch reads before it has written it, and writes: sets of addresses."""

    kinds = ("load", "store", "atomic", "reduction", "copy")
    spaces = ("global",)

    def __init__(self):
        super().__init__()
        self.found: dict[int, tuple[set, set]] = {}

    def event(self, event) -> None:
        reads, writes = self.found.setdefault(event.kernel.launch, (set(), set()))
        for access in event.accesses:
            does_read, does_write = WRITES[access.operation]
            each = access.addresses[access.active]
            touched = {address + k for address in each.tolist() for k in range(access.nbytes)}
            if does_read:
                reads |= touched - writes
            if does_write:
                writes |= touched


class Stream:
    """Asks a GPU for commands at random, and notes what they do."""

    def __init__(self, gpu, module, rng: random.Random):
        self.gpu, self.module, self.rng = gpu, module, rng
        self.streams = [0, 0, *(gpu.stream() for _ in range(2))]
        self.arrays = [gpu.device_array(NBYTES, np.uint8, name=f"a{k}") for k in range(3)]
        self.noted: list[tuple] = []  # of each task: ("launch", index), or (reads, writes)
        self.n_launches = 0

    def step(self) -> None:
        self.rng.choice((self.launch, self.launch, self.launch, self.copy_in, self.copy_out, self.within, self.fill))()

    def part(self):
        """An array's rows, aligned to a word, and their addresses."""
        array = self.rng.choice(self.arrays)
        first = 4 * self.rng.randrange(NBYTES // 4 - 1)
        end = min(first + 4 * self.rng.randrange(1, 40), NBYTES)
        return array[first:end], set(range(array.address + first, array.address + end))

    def launch(self) -> None:
        target, source = self.rng.sample(self.arrays, 2)
        n, step = self.rng.randrange(1, 60), self.rng.randrange(1, 4)
        first = self.rng.randrange(NBYTES // 4 - 1 - n * step)
        kernel = self.module[self.rng.choice(NAMES)]
        kernel[2, 32, self.rng.choice(self.streams)](target, source, first, step, n)
        self.noted.append(("launch", self.n_launches))
        self.n_launches += 1

    def copy_in(self) -> None:
        array, addresses = self.part()
        array.copy_to_device(np.full(len(array), self.rng.randrange(256), np.uint8), self.rng.choice(self.streams))
        self.noted.append((set(), addresses))

    def copy_out(self) -> None:
        array, addresses = self.part()
        array.copy_to_host()
        self.noted.append((addresses, set()))

    def within(self) -> None:
        (source, reads), (target, _) = self.part(), self.part()
        n = min(len(source), len(target))
        self.gpu.submit(cmd.CopyWithin(target.address, source.address, n, 0))
        reads = set(range(source.address, source.address + n))
        self.noted.append((reads, set(range(target.address, target.address + n))))

    def fill(self) -> None:
        array, addresses = self.part()
        self.gpu.submit(cmd.Fill(array.address, len(array), b"\7", 0))
        self.noted.append((set(), addresses))


def observed(folder: Path, seed: int, n_commands: int) -> tuple[Counter, Counter]:
    """Bytes by (kind, source, target), as the database has them and as the replay finds them."""
    (folder / "k.cu").write_text(KERNELS)
    rng, lanes = random.Random(seed), Lanes()
    with RecordWriter(folder / "a.gprec") as recorder:
        gpu = open_device(Settings(recorder=recorder, observe=True))
        gpu.add_trace_generator(lanes)
        stream = Stream(gpu, gpu.load(folder / "k.cu"), rng)
        for _ in range(n_commands):
            stream.step()
        gpu.synchronize()
        gpu.executor.finish()
    accesses = []
    for task, noted in enumerate(stream.noted):
        reads, writes = lanes.found.get(noted[1], (set(), set())) if noted[0] == "launch" else noted
        accesses.append((task, reads, writes))
    expected, _ = replay(accesses)
    with closing(ensure_database(folder / "a.gprec")) as db:
        rows = db.execute(
            "SELECT kind, source, target, SUM(nbytes) FROM stored_relations WHERE origin = 'observed' "
            "GROUP BY kind, source, target"
        ).fetchall()
    return Counter({tuple(row[:3]): row[3] for row in rows}), expected


@pytest.mark.parametrize("seed", range(4))
def test_random_streams(tmp_path, seed):
    found, expected = observed(tmp_path, seed, 24)
    assert found == expected
    assert {kind for kind, _, _ in found} == set(NEEDS)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 130))
def test_more_random_streams(tmp_path, seed):
    found, expected = observed(tmp_path, seed, 60)
    assert found == expected
