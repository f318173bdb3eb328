"""CUDA C++ with textures and surfaces: compiled by clang, and nvcc's PTX of the same file (kept in tests/ptx), against
numpy and fractions.
"""

import numpy as np
import pytest

import gpuprof
from gpuprof.compile import compile_cuda
from gpuprof.errors import CompileError, KernelFault, UsageError
from gpuprof.isa.encoding import decode
from gpuprof.isa.modifiers import unpack_name
from gpuprof.isa.stalls import INDEX
from tests.paths import TESTS
from tests.references import texture as reference
from tests.support.host_oracle import nvcc
from tests.support.nvidia_tools import skip_without_nvcc
from tests.support.running import run_file, run_source
from tests.support.texture_support import canonical

HERE = TESTS
SOURCE, STORED, ROTATE = (
    HERE / "programs" / "textures.cu",
    HERE / "ptx" / "textures.ptx",
    HERE / "programs" / "rotate.cu",
)
N = 64
WRAPPING = {"filter": "linear", "address": "wrap", "normalized": True, "mip_filter": "linear"}


@pytest.fixture(scope="module", params=["clang", "nvcc, kept", "nvcc, now"])
def module_path(request, tmp_path_factory):
    if request.param != "nvcc, now":
        return SOURCE if request.param == "clang" else STORED
    skip_without_nvcc()
    return nvcc(SOURCE, tmp_path_factory.mktemp("nvcc"), "-O3")


def pyramid(rng, *extents: int, fixed: int = 0) -> list[np.ndarray]:
    """Three mipmap levels of numbers with few bits; the first `fixed` dimensions (layers, faces) stay."""
    shapes = [(*extents[:fixed], *[extent >> level for extent in extents[fixed:]]) for level in range(3)]
    return [(rng.integers(-256, 256, shape) / 16).astype(np.float32) for shape in shapes]


def expected(levels: list[np.ndarray], geometry: str, place: list[float], lod: float, layer: int = 0) -> float:
    arrays = [canonical(geometry, each) for each in levels]
    if "cube" in geometry:
        face, *place = reference.face_of(*place)
        values = reference.fetch(arrays, 6 * layer + face, place, ("clamp_to_edge",) * 2, True, True, lod, "linear")
    else:
        values = reference.fetch(arrays, layer, place, ("wrap",) * 3, True, True, lod, "linear")
    return float(np.float32(float(values[0])))


def test_every_fetch(module_path):
    rng = np.random.default_rng(3)
    gpu = gpuprof.Device()
    data = {
        "1d": pyramid(rng, 8), "a1d": pyramid(rng, 3, 8, fixed=1), "2d": pyramid(rng, 4, 8),
        "a2d": pyramid(rng, 3, 4, 8, fixed=1),
        "3d": pyramid(rng, 4, 4, 8), "cube": pyramid(rng, 6, 8, 8, fixed=1), "acube": pyramid(rng, 3, 6, 8, 8, fixed=2),
    }  # fmt: skip
    textures = [gpu.texture(levels, geometry, **WRAPPING) for geometry, levels in data.items()]
    at = rng.choice([-1.25, -0.5, 0.1, 0.375, 0.5, 0.7, 1.0, 1.5], (N, 4)).astype(np.float32)
    at[:, 3] = rng.choice([-1, 0, 0.25, 1, 1.7, 5], N)
    out = gpu.device_array((23, N), np.float32)
    gpu.load(module_path).fetches[1, N](*textures, at, out)
    found = out.copy_to_host()
    row = 0
    for geometry, dimensions in (("1d", 1), ("a1d", 1), ("2d", 2), ("a2d", 2), ("3d", 3), ("cube", 3), ("acube", 3)):
        for form in ("", "Lod", "Grad")[: 2 if "cube" in geometry else 3]:
            for i in range(N):
                # the longer derivative is 0.25 along x, which is 8 texels wide: one level down
                lod = {"": 0.0, "Lod": float(at[i, 3]), "Grad": 1.0}[form]
                layer = i % 3 if geometry[0] == "a" else 0
                wanted = expected(data[geometry], geometry, [float(u) for u in at[i, :dimensions]], lod, layer)
                assert found[row, i] == np.float32(wanted), (geometry, form, i)
            row += 1
    for i in range(N):
        wanted = reference.gather(
            canonical("2d", data["2d"][0]), 0, [float(u) for u in at[i, :2]], ("wrap",) * 3, True, 0
        )
        np.testing.assert_array_equal(found[row:, i], [float(value) for value in wanted])


def test_every_element(module_path):
    rng = np.random.default_rng(4)
    gpu = gpuprof.Device()
    arrays = [
        rng.integers(0, 256, (N, 4), np.uint8), rng.integers(-(1 << 15), 1 << 15, (N, 2), np.int16),
        rng.integers(0, 1 << 32, N, np.uint32), rng.normal(size=(N, 2)).astype(np.float32),
    ]  # fmt: skip
    out = gpu.device_array((9, N), np.int32)
    gpu.load(module_path).elements[1, N](*[gpu.texture(array, "1d") for array in arrays], out)
    wanted = np.concatenate(
        [
            arrays[0].T.astype(np.int32),
            arrays[1].T.astype(np.int32),
            arrays[2].view(np.int32)[None],
            arrays[3].T.view(np.int32),
        ]
    )
    np.testing.assert_array_equal(out.copy_to_host(), wanted)


def test_every_surface(module_path):
    rng = np.random.default_rng(5)
    gpu = gpuprof.Device()

    def numbers(*shape: int) -> np.ndarray:
        return rng.integers(0, 1 << 32, shape, np.uint32)

    line, plane, solid, lines, planes, cube = (
        numbers(64), numbers(4, 64), numbers(2, 2, 16), numbers(2, 32), numbers(2, 2, 8), numbers(6, 4, 4),
    )  # fmt: skip
    given = [(line, "1d"), (plane, "2d"), (solid, "3d"), (lines, "a1d"), (planes, "a2d"), (cube, "cube")]
    surfaces = [gpu.surface(array.copy(), geometry) for array, geometry in given]
    gpu.load(module_path).surfaces[1, 32](*surfaces)
    line[32:] = line[:32]
    plane[1] = plane[0]
    rows = [row.view(np.uint8) for row in plane]
    rows[2][:32] = rows[0][:32]
    rows[3][:64] = np.concatenate([np.zeros(20, np.uint8), rows[0][:44]])
    solid[1], lines[1], planes[1], cube[5] = solid[0], lines[0], planes[0], cube[2]
    for surface, (wanted, geometry) in zip(surfaces, given, strict=True):
        np.testing.assert_array_equal(surface.array.copy_to_host(), wanted, geometry)


def turned(picture: np.ndarray, angle: float) -> np.ndarray:
    """Bilinear, wrapping, in double precision."""
    height, width = picture.shape
    y, x = np.mgrid[:height, :width]
    u, v = (x + 0.5) / width - 0.5, (y + 0.5) / height - 0.5
    px = (u * np.cos(angle) - v * np.sin(angle) + 0.5) * width - 0.5
    py = (v * np.cos(angle) + u * np.sin(angle) + 0.5) * height - 0.5
    x0, y0 = np.floor(px).astype(int), np.floor(py).astype(int)
    fx, fy = px - x0, py - y0

    def at(i, j):
        return picture[j % height, i % width]

    return (1 - fy) * ((1 - fx) * at(x0, y0) + fx * at(x0 + 1, y0)) + fy * (
        (1 - fx) * at(x0, y0 + 1) + fx * at(x0 + 1, y0 + 1)
    )


def test_an_image_turned():
    """Weights have 8 bits, so a pixel is at most 1/512 of its neighbours' difference off in each direction."""
    gpu = gpuprof.Device()
    picture = np.random.default_rng(6).random((48, 80), dtype=np.float32)
    canvas = gpu.surface(gpu.device_array(picture.shape, np.float32))
    gpu.load(ROTATE).rotate[(5, 3), (16, 16)](gpu.texture(picture, **WRAPPING), canvas, 80, 48, 0.5)
    np.testing.assert_allclose(canvas.array.copy_to_host(), turned(picture, 0.5), atol=2 / 512 + 1e-4)


def test_the_launch_in_its_comment():
    """A texture and a surface as text give what they give from Python; the array keeps its name."""
    arrays, results = run_file(ROTATE)
    picture, canvas = arrays["picture"].copy_to_host(), arrays["canvas"].copy_to_host()
    np.testing.assert_allclose(canvas, turned(picture, 0.5), atol=2 / 512 + 1e-4)
    assert results.launches[0].launch.name.startswith(
        "rotate<<<(4, 4), (16, 16)>>>(tex2d(linear, wrap, normalized) picture"
    )


@pytest.mark.parametrize(
    "argument, text",
    [
        ("tex2d f64[4,4]", "cannot have elements of f64"),
        ("tex2d bf16[4,4]", "cannot have elements of bf16"),
        ("tex2d f32[4]", "2 dimensions, or 3 with channels"),
        ("tex2d(linear) u8[4,4]", "linear filtering needs floats"),
        ("tex2d x", "array x is not defined yet"),
        ("tex2d(wrap, wrap, wrap, wrap) f32[4,4]", "address takes 1 to 3 words"),
    ],
)
def test_textures_are_checked_before_anything_runs(argument, text):
    with pytest.raises(UsageError, match=text):
        run_file(ROTATE, f"rotate<<<1, 1>>>({argument}, surf2d f32[4,4], 4, 4, 0.5)")


MANY = """
// LAUNCH: many<<<8, 256>>>(tex1d numbers: f32[4096]=random, out: f32[2048])
__global__ void many(cudaTextureObject_t numbers, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 16; k++)
        sum += tex1Dfetch<float>(numbers, i + 128 * k);
    out[i] = sum;
}
"""


def test_timing_of_texture_fetches(tmp_path):
    """Fetches fill the texture queue; the sum waits for them with the long scoreboard; what they read goes through the
    caches.
    """
    arrays, results = run_source(tmp_path, MANY)
    (result,) = results.launches
    opcodes = [decode(row).op.name for row in result.launch.module.code]
    fetches, sums = (np.array([name == wanted for name in opcodes]) for wanted in ("TEX.1D", "FADD"))
    assert fetches.sum() == 16
    writes_one = [unpack_name(row["mods"], "channels") == "x" for row in result.launch.module.code[fetches]]
    assert all(writes_one), "channels that nobody reads are not written: a later fetch would wait for them"
    ledger = result.timing.ledger
    assert ledger[fetches][:, INDEX["tex_throttle"]].sum() > 0
    assert ledger[fetches][:, INDEX["long_scoreboard"]].sum() == 0
    assert ledger[sums][:, INDEX["long_scoreboard"]].sum() > 0
    assert result.counters.l2_sectors_global[fetches].tolist() == [2048 * 4 // 32] * 16
    numbers = arrays["numbers"].copy_to_host()
    np.testing.assert_allclose(
        arrays["out"].copy_to_host(), sum(numbers[128 * k : 128 * k + 2048] for k in range(16)), rtol=1e-5
    )


ORDER = """
__global__ void order(cudaTextureObject_t numbers, cudaSurfaceObject_t row, float *out, bool *there)
{
    int i = threadIdx.x;
    float x = tex2D<float>(numbers, i + 0.5f, 0.5f, there + i);
    surf2Dwrite(x, row, i * 4, 0);
    __syncthreads();
    float other = surf2Dread<float>(row, (31 - i) * 4, 0);
    __syncthreads();
    if (i & 1)
        surf2Dwrite(-1.0f, row, i * 4, 0);
    out[i] = other + 100 * surf2Dread<float>(row, i * 4, 0);
}
"""


@pytest.mark.parametrize("compiler", ["clang", "nvcc"])
def test_surface_accesses_keep_their_order(tmp_path, compiler):
    path = tmp_path / "order.cu"
    path.write_text(ORDER)
    if compiler == "nvcc":
        skip_without_nvcc()
        path = nvcc(path, tmp_path, "-O3")
    gpu = gpuprof.Device()
    numbers = np.arange(32, dtype=np.float32)
    out, there = gpu.device_array(32, np.float32), gpu.device_array(32, np.uint8)
    program = gpu.load(path)
    program[program.kernels[0]][1, 32](
        gpu.texture(numbers[None]), gpu.surface(np.zeros((1, 32), np.float32)), out, there
    )
    np.testing.assert_array_equal(out.copy_to_host(), numbers[::-1] + 100 * np.where(numbers % 2, -1, numbers))
    assert there.copy_to_host().all()


# -- the Python face -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda gpu: gpu.texture(np.zeros(4)), "cannot have elements of float64"),
        (lambda gpu: gpu.texture(np.zeros((4, 4, 4, 4), np.float32)), "give the geometry"),
        (lambda gpu: gpu.texture(np.zeros((4, 4, 3), np.float32), "2d"), "1, 2 or 4 channels, not 3"),
        (lambda gpu: gpu.texture(np.zeros((5, 4, 4), np.float32), "cube"), "6 square faces"),
        (lambda gpu: gpu.texture(np.zeros(4, np.uint8), filter="linear"), "linear filtering needs floats"),
        (lambda gpu: gpu.texture(np.zeros(4, np.float32), read="normalized"), "only 8- and 16-bit integers"),
        (lambda gpu: gpu.texture(np.zeros(4, np.float32), address="repeat"), "address is one of wrap, clamp"),
        (lambda gpu: gpu.texture(np.zeros(4, np.float32), filter="cubic"), "filter is one of nearest, linear"),
        (lambda gpu: gpu.texture(np.zeros(4, np.float32), srgb=True), "sRGB is for bytes"),
        (lambda gpu: gpu.texture([np.zeros(4, np.float32), np.zeros(3, np.float32)]), "mipmap level 1"),
        (lambda gpu: gpu.surface(np.zeros((4, 4), np.float32), "4d"), "give the geometry"),
    ],
)
def test_what_is_no_texture(make, text):
    with pytest.raises(UsageError, match=text):
        make(gpuprof.Device())


def test_handles_are_no_pointers():
    gpu = gpuprof.Device()
    program, texture = gpu.load(SOURCE), gpu.texture(np.zeros(4, np.float32))
    with pytest.raises(UsageError, match=r"argument 5 \(int \*\): expected an array, got the texture 1d float32\[4\]"):
        program.elements[1, 1](texture, texture, texture, texture, texture)


def test_a_number_that_is_no_handle():
    gpu = gpuprof.Device()
    texture = gpu.texture(np.zeros(4, np.float32))
    with pytest.raises(
        KernelFault,
        match=r"elements: .*textures\.cu:\d+, thread \(0, 0, 0\) of block \(0, 0, 0\): no texture at handle 0x2a",
    ):
        gpu.load(SOURCE).elements[1, 1](42, texture, texture, texture, gpu.device_array(9, np.int32))


def test_texture_references_are_refused(tmp_path):
    """They are gone since CUDA 12."""
    path = tmp_path / "old.cu"
    path.write_text(
        "texture<float, 2> picture;\n__global__ void k(float *out) { out[0] = tex2D(picture, 0.5f, 0.5f); }\n"
    )
    with pytest.raises(CompileError) as raised:
        compile_cuda(path)
    assert "texture" in str(raised.value) + str(raised.value.args)
