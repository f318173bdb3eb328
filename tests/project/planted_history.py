"""A repository of 20 commits in which three made a kernel slower, and one does not build."""

import os
import subprocess
from pathlib import Path

WHO = {f"GIT_{who}_{what}": "a" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
WHEN = {f"GIT_{who}_DATE": "2026-01-02T03:04:05Z" for who in ("AUTHOR", "COMMITTER")}
ENVIRONMENT = os.environ | WHO | WHEN | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}

POLYNOMIAL = """\
// LAUNCH: polynomial<<<32, 128>>>(out: f32[4096], in: f32[4096]=random, factors: f32[16]=random)
__global__ void polynomial(float *__restrict__ out, const float *in, const float *factors)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];
    out[i] = 0;
    for (int k = 0; k < 16; ++k)
        out[i] = out[i] * x + factors[k];
}
"""
TRANSPOSE = """\
// LAUNCH: transpose<<<(4, 4), (32, 8)>>>(out: f32[128,128], in: f32[128,128]=random, 128)
constexpr int TILE = 32, PAD = 1;
__global__ void transpose(float *out, const float *in, int n)
{
    __shared__ float tile[TILE][TILE + PAD];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += 8)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += 8)
        out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}
"""
SUMS = """\
// LAUNCH: sums<<<8, 64>>>(out: f32[512], in: f32[32768]=random)
__global__ void sums(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x[64], sum = 0;
#pragma unroll 4
    for (int k = 0; k < 64; ++k)
        sum += in[k * 512 + i];
    out[i] = sum;
}
"""
UNROLLED = """\
#pragma unroll
    for (int k = 0; k < 64; ++k)
        x[k] = in[k * 512 + i];
#pragma unroll
    for (int k = 0; k < 64; ++k)
        sum += x[k] * x[63 - k];
"""
ROLLED = """\
#pragma unroll 4
    for (int k = 0; k < 64; ++k)
        sum += in[k * 512 + i];
"""
PROJECT = """\
[[entry]]
file = "polynomial.cu"
[[entry]]
file = "transpose.cu"
[[entry]]
file = "sums.cu"
max-registers = 32
"""
# The number of a commit -> file, text before and after, and what git says of it.
CHANGES = {
    4: ("polynomial.cu", "float *__restrict__ out", "float *out", "Take the output as it is"),
    7: ("transpose.cu", "int n)\n{", "int n)\n{ broken", "A commit that does not build"),
    8: ("transpose.cu", "{ broken", "{", "Mend the build"),
    12: ("transpose.cu", "PAD = 1", "PAD = 0", "Save shared memory"),
    16: ("sums.cu", ROLLED, UNROLLED, "Unroll the sums"),
}
N_COMMITS = 20


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *words], capture_output=True, text=True, env=ENVIRONMENT, check=True
    )
    return done.stdout.strip()


def write_history(folder: Path) -> list[str]:
    """Makes the repository; its commits, the oldest first."""
    files = {"polynomial.cu": POLYNOMIAL, "transpose.cu": TRANSPOSE, "sums.cu": SUMS, "gpuprof.toml": PROJECT}
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commits = []
    for number in range(N_COMMITS):
        files["notes.txt"] = f"note {number}\n"
        name, before, after, message = CHANGES.get(number, ("notes.txt", "note", "Note", f"Note {number}"))
        assert before in files[name], (number, before)
        files[name] = files[name].replace(before, after)
        for file, text in files.items():
            (folder / file).write_text(text)
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", message)
        commits.append(git(folder, "rev-parse", "HEAD"))
    return commits
