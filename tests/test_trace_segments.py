"""A recording does not depend on how long the stretches of trace are that timing gets: not one byte of it."""

from functools import partial
from pathlib import Path

import pytest

import gpuprof.session
from gpuprof.emulate.run import emulate
from gpuprof.timing import live
from tests.command import gpuprof as command

# Blocks of one chunk that start at other times and run at other speeds: a few SMs, more blocks than fit, lengths from 1 to 40 rounds.
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
SAMPLES = Path(__file__).parent.parent / "samples"


def recording(
    folder: Path, monkeypatch, source: Path, nbytes: int | None = None, chip: str = "a100", made: list[int] | None = None
) -> tuple[bytes, int]:
    """The bytes of the recording of a file's launches, and the most pieces that one chunk of blocks came in. `made` gets their bytes."""
    numbers = [0]

    def watched(*arguments, **options):
        for piece in emulate(*arguments, **options, **({"segment_nbytes": nbytes} if nbytes else {})):
            numbers.append(piece.number)
            if made is not None:
                made.append(nbytes_of(piece))
            yield piece

    monkeypatch.setattr(gpuprof.session, "emulate", watched)
    code, _, error = command(folder, "collect", str(source), "--chip", chip, "--period", "64", "-o", "it.gprec")
    assert code == 0, error
    return (folder / "it.gprec").read_bytes(), max(numbers) + 1


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


def test_memory_does_not_grow_with_the_run(tmp_path, monkeypatch):
    """More blocks than run at a time, of uneven speed: four times the rounds make four times the trace, of which no more is kept."""
    (tmp_path / "small.toml").write_text(CHIP)
    kept, made, most = {}, {}, [0]
    tidy = live._Source.tidy

    def watched(source, state):
        tidy(source, state)
        pieces = [piece for chunk in source.chunks.values() for piece, _ in chunk.pieces]
        most[0] = max(most[0], sum(nbytes_of(piece) for piece in pieces))

    monkeypatch.setattr(live._Source, "tidy", watched)
    for rounds in (4, 16):
        most = [0]
        totals: list[int] = []
        longer = UNEVEN.replace("1 + blockIdx.x * 13 % 40", f"{rounds} * (15 + blockIdx.x * 13 % 15)").replace("<<<40", "<<<16")
        (tmp_path / "uneven.cu").write_text(longer)
        recording(tmp_path, monkeypatch, tmp_path / "uneven.cu", 150_000, "small.toml", totals)
        kept[rounds], made[rounds] = most[0], sum(totals)
    assert made[16] > 3.5 * made[4]
    assert kept[16] < 1.5 * kept[4]


def nbytes_of(piece) -> int:
    return sum(getattr(piece, name).nbytes for name in ("steps", "accesses", "sectors"))


@pytest.mark.parametrize("name", ["reduction.cu", "spmv.cu"])
def test_samples(tmp_path, monkeypatch, name):
    whole, _ = recording(tmp_path, monkeypatch, SAMPLES / name)
    part, pieces = recording(tmp_path, monkeypatch, SAMPLES / name, 200_000)
    assert pieces > 2
    assert part == whole


def test_a_look_ahead_that_is_too_short_is_noticed(tmp_path, monkeypatch):
    """Were a quantum to take more steps than it is said to, a warp would run out of trace in its midst: that is no end of the warp."""
    monkeypatch.setattr("gpuprof.timing.state.steps_of_quantum", lambda program, dispatch_units: 1)
    (tmp_path / "uneven.cu").write_text(UNEVEN)
    (tmp_path / "small.toml").write_text(CHIP)
    with pytest.raises(AssertionError, match="ran further in a quantum"):
        recording(tmp_path, monkeypatch, tmp_path / "uneven.cu", 5000, "small.toml")
