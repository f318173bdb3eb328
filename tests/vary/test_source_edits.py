"""Textual changes of a source: paddings and launch bounds."""

import pytest

from gpuprof.errors import UsageError
from gpuprof.vary.source_edits import bounded, code_of, defines_itself, padded

TILE = """\
__global__ void k(float *y) // float tile[8][8]
{
    __shared__ float tile[8][8], other[4][4];
    tile[threadIdx.x][0] = 1; /* &tile[0][0] */
    y[0] = tile[0] [threadIdx.y] + (y && tile[0][0]);
}
"""


def test_comments_and_quotes_are_no_code():
    source = "a /* b\nc */ d \"e;\" 'f' // g\nh"
    assert code_of(source) == "a     \n     d              \nh"


def test_a_padding_changes_the_last_length_of_the_declaration():
    assert padded(TILE, "tile", 1, "k.cu") == TILE.replace("tile[8][8], ", "tile[8][9], ")
    assert padded(TILE, "other", 4, "k.cu") == TILE.replace("other[4][4]", "other[4][8]")
    assert padded(TILE, "tile", 0, "k.cu") == TILE


@pytest.mark.parametrize(
    "length, changed", [("32", "33"), ("TILE", "TILE + 1"), ("2 * W", "(2 * W) + 1"), ("w[0]", "(w[0]) + 1")]
)
def test_lengths_that_are_expressions(length, changed):
    source = "__shared__ volatile float t[4][{}];"
    assert padded(source.format(length), "t", 1, "k.cu") == source.format(changed)


def test_all_arrays_of_a_name():
    source = "void a() { __shared__ int t[2][N]; t[0][i]; }\nvoid b() { __shared__ float t[4][M]; t[i][0]; }\n"
    assert padded(source, "t", 2, "k.cu") == source.replace("[N]", "[N + 2]").replace("[M]", "[M + 2]")


@pytest.mark.parametrize(
    "source, message",
    [
        ("float t[4][4];", "k.cu has no declaration `__shared__ TYPE t[..][..];` of its own"),
        ("// __shared__ float t[4][4];", "has no declaration"),
        ("\n__shared__ float t[64];", "k.cu:2: t has one dimension, so more elements would move nothing"),
        ("extern __shared__ float t[][4];", "k.cu:1: t is extern: the launch says how large it is"),
        ("__shared__ int t[4][4];\nf(t);", "k.cu:2: t is used as a flat pointer there, so its rows cannot be made "),
        ("__shared__ int t[4][4];\nf(&t[0][0]);", "k.cu:2: t is used as a flat pointer"),
        ("__shared__ int t[4][4];\nf(t[1]);", "k.cu:2: t is used as a flat pointer"),
        ("__shared__ int t[4][4];\n(float *)t;", "k.cu:2: t is used as a flat pointer"),
    ],
)
def test_arrays_that_cannot_be_padded(source, message):
    with pytest.raises(UsageError) as caught:
        padded(source, "t", 1, "k.cu")
    assert str(caught.value).startswith("--vary pad.t: ") and message in str(caught.value)


@pytest.mark.parametrize(
    "source, kernel, changed",
    [
        ("__global__ void k(int *y) {}", "k", "__global__ __launch_bounds__(256, 4) void k(int *y) {}"),
        (
            "__global__ void __launch_bounds__(F(1, 2)) k(int *y) {}",
            "k",
            "__global__ void __launch_bounds__(F(1, 2), 4) k(int *y) {}",
        ),
        (
            "__global__ __launch_bounds__(128, 2) void k(int *y) {}",
            "k",
            "__global__ __launch_bounds__(128, 4) void k(int *y) {}",
        ),
        (
            "template <int N>\n__global__ void n(int *y) {}\nvoid call() { n<3>(); }",
            "a::n<3>",
            "template <int N>\n__global__ __launch_bounds__(256, 4) void n(int *y) {}\nvoid call() { n<3>(); }",
        ),
    ],
)
def test_launch_bounds(source, kernel, changed):
    assert bounded(source, kernel, 256, 4, "k.cu") == changed


def test_a_kernel_that_the_file_does_not_have():
    with pytest.raises(UsageError, match=r"--vary min_blocks: k.cu has no kernel `__global__ void n\(` of its own"):
        bounded("__global__ void k() {}", "n<3>", 256, 4, "k.cu")


@pytest.mark.parametrize(
    "source, line",
    [
        ("\n#define TILE 8", 2),
        ("#ifndef TILE\n#define TILE 8\n#endif", 0),
        ("#if !defined(TILE)\n# define TILE 8\n#endif", 0),
        ("// #define TILE 8", 0),
        ("#define TILES 8", 0),
    ],
)
def test_a_macro_that_is_defined_whatever_the_command_line_says(source, line):
    assert defines_itself(source, "TILE") == line
