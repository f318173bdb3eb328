"""A slow kernel is edited three times, each time as the first piece of `advise --brief` says: an agent's session."""

from tests.mcp_server.test_server import session_with

LAUNCH = "// LAUNCH: scaled<<<(24, 24), (32, 32)>>>(out: f32[768,768], in: f32[768,768]=random, 768)"
PLAIN = """    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    out[x * n + y] = in[y * n + x] * {a} + {b};"""
TILED = """    __shared__ float tile[32][{pitch}];
    int x = blockIdx.x * 32, y = blockIdx.y * 32;
    tile[threadIdx.y][threadIdx.x] = in[(y + threadIdx.y) * n + x + threadIdx.x] * {a} + {b};
    __syncthreads();
    out[(x + threadIdx.y) * n + y + threadIdx.x] = tile[threadIdx.x][threadIdx.y];"""


def source(edits: set[str]) -> str:
    """A scaled transpose; `edits`: the topics of advice that have been followed."""
    body = TILED if "coalesce" in edits else PLAIN
    numbers = {"a": "0.1f", "b": "0.3f"} if "f64" in edits else {"a": "0.1", "b": "0.3"}
    pitch = 33 if "bank_conflicts" in edits else 32
    body = body.format(pitch=pitch, **numbers)
    return f"{LAUNCH}\n__global__ void scaled(float *out, const float *in, int n)\n{{\n{body}\n}}\n"


def lines_of(brief: str) -> dict[str, str]:
    """The keys of a brief and of its first piece."""
    found: dict[str, str] = {}
    for line in brief.splitlines():
        key, _, text = line.partition(": ")
        found.setdefault(key, text)
    return found


def test_three_edits(tmp_path):
    edits: set[str] = set()
    order, cycles = [], []
    with session_with(tmp_path) as call:
        for _ in range(3):
            (tmp_path / "scaled.cu").write_text(source(edits))
            said = call("advise", file="scaled.cu", chip="t4", format="brief")
            assert said["exit_code"] == 0, said["stderr"]
            brief = lines_of(said["stdout"])
            order.append(brief["1"])
            cycles.append(int(brief["cycles"]))
            edits.add(brief["1"])
        (tmp_path / "scaled.cu").write_text(source(edits))
        cycles.append(int(lines_of(call("advise", file="scaled.cu", chip="t4", format="brief")["stdout"])["cycles"]))
    assert sorted(order) == ["bank_conflicts", "coalesce", "f64"]
    assert cycles == sorted(cycles, reverse=True) and cycles[0] > 3 * cycles[-1]
