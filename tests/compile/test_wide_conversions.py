"""Conversions between __int128 and floating point, against Python's integers. nvcc 13.0's code gives the same."""

import math

import numpy as np

import gpuprof

N = 1024
SOURCE = """\
typedef unsigned __int128 u128;
typedef __int128 s128;
__global__ void convert(const unsigned long long *x, const double *d, double *o, float *f, unsigned long long *w)
{
    int i = threadIdx.x;
    u128 v = (u128)x[2 * i + 1] << 64 | x[2 * i];
    o[2 * i] = (double)v;
    o[2 * i + 1] = (double)(s128)v;
    f[2 * i] = (float)v;
    f[2 * i + 1] = (float)(s128)v;
    u128 made[] = {(u128)d[i], (u128)(s128)d[i], (u128)(float)d[i], (u128)(s128)(float)d[i]};
    for (int j = 0; j < 4; ++j)
    {
        w[8 * i + 2 * j] = made[j];
        w[8 * i + 2 * j + 1] = made[j] >> 64;
    }
}
"""
# Ties, and what lies next to them, where rounding carries into the next power of two, and where it overflows.
INTEGERS = (
    0, 1, 2**24, 2**24 + 1, 2**53, 2**53 + 1, 2**64 - 1, 2**64, 2**64 + 1, 2**65 + 1, 2**127 - 1, 2**127, 2**127 + 1,
    2**128 - 1, 2**128 - 2**103, 2**128 - 2**103 - 1, 2**128 - 2**104, 2**128 - 2**74, 2**128 - 2**75,
    (2**53 + 1) << 40, ((2**53 + 1) << 40) + 1, ((2**53 + 1) << 40) - 1, (2**24 + 1) << 90, ((2**24 + 1) << 90) + 1,
    (2**25 + 1) << 90, (2**25 + 3) << 90, ((2**25 + 3) << 90) - 1,
)  # fmt: skip
FLOATS = (
    0.0, -0.0, 0.5, -0.5, 0.999, 1.0, -1.0, 1.5, -1.5, 2**52 + 0.5, 2.0**53, -(2.0**53), 2.0**63, 2.0**64,
    2.0**64 * 1.5, 2.0**127, -(2.0**127), 2.0**127 * (1 + 2**-52), 2.0**128, -(2.0**128), 2.0**128 * (1 - 2**-53),
    1e300, -1e300, math.inf, -math.inf, math.nan, 5e-324, -5e-324, -(2.0**126) * 1.25,
)  # fmt: skip


def rounded(value, n_bits, most_bits):
    """The nearest number of so many bits, to even; infinite where it takes more than `most_bits`."""
    size = abs(value)
    cut = max(0, size.bit_length() - n_bits)
    kept, rest = size >> cut, size & ((1 << cut) - 1)
    half = 1 << cut >> 1
    kept += cut > 0 and (rest > half or (rest == half and kept & 1))
    return math.copysign(math.inf if (kept << cut).bit_length() > most_bits else float(kept << cut), value or 1)


def whole(value, least, most):
    """The number without its fraction, as 128 bits."""
    if math.isnan(value):
        return 1 << 127
    if math.isinf(value):
        return (most if value > 0 else least) % 2**128
    return min(max(int(value), least), most) % 2**128


def test_conversions_are_exact(tmp_path):
    rng = np.random.default_rng(1)
    integers = list(INTEGERS)
    integers += [int.from_bytes(rng.bytes(16), "little") >> int(rng.integers(0, 128)) for _ in range(N - len(integers))]
    floats = list(FLOATS)
    signs, exponents = rng.choice((-1.0, 1.0), N), rng.integers(-3, 129, N)
    floats += [float(signs[i] * rng.random() * 2.0 ** exponents[i]) for i in range(N - len(floats))]
    (tmp_path / "k.cu").write_text(SOURCE)
    gpu = gpuprof.Device("a100")
    halves = np.array([(each % 2**64, each >> 64) for each in integers], np.uint64).reshape(-1)
    x, d = gpu.to_device(halves), gpu.to_device(np.array(floats))
    o, f, w = (gpu.device_array(n * N, kind) for n, kind in ((2, np.float64), (2, np.float32), (8, np.uint64)))
    gpu.load(tmp_path / "k.cu").convert[1, N](x, d, o, f, w)
    signed = [each - 2**128 if each >> 127 else each for each in integers]
    both = [each for pair in zip(integers, signed, strict=True) for each in pair]
    assert o.copy_to_host().tolist() == [rounded(each, 53, 1024) for each in both]
    assert f.copy_to_host().tolist() == [rounded(each, 24, 128) for each in both]
    with np.errstate(over="ignore"):
        singles = [float(np.float32(each)) for each in floats]
    ranges = ((0, 2**128 - 1), (-(2**127), 2**127 - 1))
    expected = [
        whole(each, *limits)
        for double, single in zip(floats, singles, strict=True)
        for each in (double, single)
        for limits in ranges
    ]
    words = w.copy_to_host().tolist()
    assert [low | high << 64 for low, high in zip(words[::2], words[1::2], strict=True)] == expected
