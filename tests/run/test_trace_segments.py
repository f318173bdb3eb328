"""A recording does not depend on how long the stretches of trace are that timing gets: not one byte of it."""

from functools import partial
from pathlib import Path

import pytest

from gpuprof.emulate.run import emulate
from gpuprof.run.launching import launcher
from gpuprof.timing import trace_compaction, trace_feed
from tests.paths import SAMPLES
from tests.support.command import gpuprof as command
from tests.support.matrices import long_from

# Blocks of one chunk that start at other times and run at other speeds: a few SMs, more blocks than fit, lengths from 1
# to 40 rounds.
UNEVEN = r"""
// LAUNCH: uneven<<<40, 96>>>(x: f32[3840]=random, out: f32[3840], 3840)
__global__ void uneven(const float *x, float *out, int n) {
    __shared__ float box[96];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    int rounds = 1 + blockIdx.x * 13 % 40;
    for (int r = 0; r < rounds; r++) {
        box[threadIdx.x] = x[(i * 7 + r * 31) % n];
        __syncthreads();
        for (int k = 0; k < threadIdx.x / 32 * 20; k++)
            sum = sum * 0.5f + box[(threadIdx.x + k) % 96];
        __syncthreads();
        if (threadIdx.x & 1)
            out[(i + r) % n] = sum;
    }
    atomicAdd(&out[i], sum);
}
"""
CHIP = 'inherits = "a100"\nsms = 2\nwarp_slots = 16\n'


def recording(
    folder: Path,
    monkeypatch,
    source: Path,
    nbytes: int | None = None,
    chip: str = "a100",
    made: list[int] | None = None,
) -> tuple[bytes, int]:
    """The bytes of the recording of a file's launches, and the most pieces that one chunk of blocks came in. `made`
    gets their bytes.
    """
    numbers = [0]

    def watched(*arguments, **options):
        for piece in emulate(*arguments, **options, **({"segment_nbytes": nbytes} if nbytes else {})):
            numbers.append(piece.number)
            if made is not None:
                made.append(nbytes_of(piece))
            yield piece

    monkeypatch.setattr(launcher, "emulate", watched)
    # Blocks race for `out`: which of them reads what another wrote depends on the order of emulation.
    flags = ("--period", "64", "--no-accesses")
    code, _, error = command(folder, "collect", str(source), "--chip", chip, *flags, "-o", "it.gprec")
    assert code == 0, error
    return (folder / "it.gprec").read_bytes(), max(numbers) + 1


@pytest.mark.long
def test_blocks_of_uneven_length(tmp_path, monkeypatch):
    (tmp_path / "uneven.cu").write_text(UNEVEN)
    (tmp_path / "small.toml").write_text(CHIP)
    take = partial(recording, tmp_path, monkeypatch, tmp_path / "uneven.cu", chip="small.toml")
    whole, pieces = take()
    assert pieces == 1
    for nbytes, least in ((40_000, 20), (400_000, 4)):
        part, pieces = take(nbytes)
        assert pieces >= least
        assert part == whole


# No barrier: each warp goes at its own speed, the first of a block ten times more slowly than the last.
APART = r"""
// LAUNCH: apart<<<8, 256>>>(x: i32[4096]=random, out: i32[2048], 64)
__global__ void apart(const int *x, int *out, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, at = i, slow = 8 - threadIdx.x / 32;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
#pragma unroll 1
        for (int k = 0; k < 8; k++)
            if (k < slow)
                at = x[(at + k) & 4095];
            else
                at ^= k;
    }
    out[i] = at;
}
"""


def most_kept(folder: Path, monkeypatch, source: str, nbytes: int) -> tuple[int, int]:
    """(bytes of trace that timing has kept at most, bytes made) of a launch on the small chip, in stretches of
    `nbytes`.
    """
    most, totals = [0], []
    take = trace_feed._Source._take

    def watched(source, state):
        take(source, state)
        most[0] = max(most[0], sum(link.nbytes for chunk in source.chunks.values() for link in chunk.links))

    with monkeypatch.context() as patched:
        patched.setattr(trace_feed._Source, "_take", watched)
        patched.setattr(trace_compaction, "GATHERED_NBYTES", nbytes)
        (folder / "small.toml").write_text(CHIP)
        (folder / "it.cu").write_text(source)
        recording(folder, patched, folder / "it.cu", nbytes, "small.toml", totals)
    return most[0], sum(totals)


@pytest.mark.long
def test_memory_does_not_grow_with_the_run(tmp_path, monkeypatch):
    """More blocks than run at a time, of uneven speed: four times the rounds make four times the trace, of which no
    more is kept.
    """
    uneven = [
        UNEVEN.replace("1 + blockIdx.x * 13 % 40", f"{rounds} * (15 + blockIdx.x * 13 % 15)").replace("<<<40", "<<<16")
        for rounds in (4, 16)
    ]
    (kept, made), (kept_longer, made_longer) = (most_kept(tmp_path, monkeypatch, source, 150_000) for source in uneven)
    assert made_longer > 3.5 * made
    assert kept_longer < 1.5 * kept


@pytest.mark.long
def test_memory_does_not_grow_where_warps_of_a_block_drift_apart(tmp_path, monkeypatch):
    """Of a warp that is behind the trace is not made before it is due, and of pieces that it still needs something of
    nothing else stays.
    """
    source = APART.replace("<<<8", "<<<2")
    apart = [source.replace("64)", f"{rounds})") for rounds in (120, 480)]
    (kept, made), (kept_longer, made_longer) = (most_kept(tmp_path, monkeypatch, source, 60_000) for source in apart)
    assert made_longer > 3.5 * made
    assert kept_longer < 1.1 * kept


@pytest.mark.long
def test_warps_that_drift_apart(tmp_path, monkeypatch):
    """Cut and gathered in any way the trace is the same."""
    (tmp_path / "apart.cu").write_text(APART)
    (tmp_path / "small.toml").write_text(CHIP)
    gathered = []
    monkeypatch.setattr(
        trace_feed, "gather", lambda *arguments: gathered.append(1) or trace_compaction.gather(*arguments)
    )
    take = partial(recording, tmp_path, monkeypatch, tmp_path / "apart.cu", chip="small.toml")
    whole, pieces = take()
    assert pieces == 1 and not gathered
    for nbytes, bound in ((30_000, 1 << 20), (30_000, 1000), (200_000, 50_000)):
        monkeypatch.setattr(trace_compaction, "GATHERED_NBYTES", bound)
        part, pieces = take(nbytes)
        assert pieces > 4 and gathered
        assert part == whole
        gathered.clear()


def nbytes_of(piece) -> int:
    return sum(getattr(piece, name).nbytes for name in ("steps", "accesses", "sectors"))


@pytest.mark.parametrize("name", long_from(1, ["reduction.cu", "spmv.cu"]))
def test_samples(tmp_path, monkeypatch, name):
    whole, _ = recording(tmp_path, monkeypatch, SAMPLES / name)
    part, pieces = recording(tmp_path, monkeypatch, SAMPLES / name, 200_000)
    assert pieces > 2
    assert part == whole


@pytest.mark.long
def test_a_look_ahead_that_is_too_short_is_noticed(tmp_path, monkeypatch):
    """Were a quantum to take more steps than it is said to, a warp would run out of trace in its midst: that is no end
    of the warp.
    """
    monkeypatch.setattr("gpuprof.timing.state.machine.steps_of_quantum", lambda program, dispatch_units: 1)
    (tmp_path / "uneven.cu").write_text(UNEVEN)
    (tmp_path / "small.toml").write_text(CHIP)
    with pytest.raises(AssertionError, match="ran further in a quantum"):
        recording(tmp_path, monkeypatch, tmp_path / "uneven.cu", 5000, "small.toml")
