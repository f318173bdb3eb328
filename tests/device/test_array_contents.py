"""What new arrays hold, pinned: these numbers must never change, on any machine."""

import tracemalloc

import numpy as np
import pytest

from gpuprof.device.array_contents import CHUNK, array_seed, make_array, splitmix64
from gpuprof.device.elements import ELEMENTS, bfloat16_bits, pack_number
from gpuprof.errors import DeviceMemoryError, UsageError


def test_splitmix64_published_vector():
    """The first outputs for seed 1234567, as published with the algorithm
    (rosettacode.org/wiki/Pseudo-random_numbers/Splitmix64).
    """
    published = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    assert splitmix64(1234567, 5).tolist() == published


def splitmix64_by_definition(seed: int, n: int) -> list[int]:
    outputs, mask = [], (1 << 64) - 1
    for _ in range(n):
        seed = (seed + 0x9E3779B97F4A7C15) & mask
        z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        outputs.append(z ^ (z >> 31))
    return outputs


@pytest.mark.parametrize("seed", [0, 1, (1 << 64) - 1])
def test_splitmix64_against_plain_integers(seed):
    assert splitmix64(seed, 1000).tolist() == splitmix64_by_definition(seed, 1000)
    assert splitmix64(seed, 100, first=900).tolist() == splitmix64_by_definition(seed, 1000)[900:]


def test_random_in_pieces_is_random_in_one():
    n = 2 * CHUNK + 5
    expected = np.array([bits >> 40 for bits in splitmix64_by_definition(9, n)]) * 2.0**-24
    assert make_array("f32", (n,), "random", 9).tolist() == expected.tolist()


def test_array_seeds():
    assert [array_seed(0, "x"), array_seed(0, "0"), array_seed(1, "x")] == [
        18440893294668129948,
        7120306904099482837,
        array_seed(1, "x"),
    ]
    assert len({array_seed(seed, key) for seed in range(10) for key in ("x", "y", "0", "1")}) == 40


@pytest.mark.parametrize(
    ("element", "first"),
    [
        ("f16", [0.56298828125, 0.22705078125, 0.20263671875, 0.30908203125]),
        ("bf16", [0x3F10, 0x3E68, 0x3E4C, 0x3E9E]),  # 0.5625, 0.2265625, 0.19921875, 0.30859375
        ("f32", [0.5631957054138184, 0.22728198766708374, 0.20311576128005981, 0.30927276611328125]),
        ("f64", [0.5631957172164077, 0.22728199651507242, 0.2031157897100554, 0.30927281319611233]),
        ("i8", [72, 29, 25, 39]),
        ("u8", [144, 58, 51, 79]),
        ("i32", [144, 58, 51, 79]),
        ("u64", [144, 58, 51, 79]),
    ],
)
def test_random_is_pinned(element, first):
    array = make_array(element, (4,), "random", array_seed(0, "x"))
    assert (array.dtype, array.tolist()) == (ELEMENTS[element].dtype, first)
    assert make_array(element, (2, 3), "random", array_seed(0, "x")).ravel()[:4].tolist() == first, (
        "length and shape do not matter"
    )


@pytest.mark.parametrize("element", ["f16", "f32", "f64"])
def test_random_floats_are_uniform_below_one(element):
    values = make_array(element, (100_000,), "random", 7).astype(np.float64)
    assert values.min() >= 0 and values.max() < 1
    counts = np.histogram(values, 10, (0, 1))[0]
    assert abs(counts - 10_000).max() < 500


def test_ones_zeros_arange():
    assert make_array("u8", (3, 2), "zeros", 0).tolist() == [[0, 0]] * 3
    assert make_array("f16", (3,), "ones", 0).tolist() == [1, 1, 1]
    assert make_array("bf16", (2,), "ones", 0).tolist() == [0x3F80, 0x3F80]
    assert make_array("i64", (2, 2), "arange", 0).tolist() == [[0, 1], [2, 3]]
    assert make_array("bf16", (3,), "arange", 0).tolist() == [0, 0x3F80, 0x4000]
    with pytest.raises(UsageError) as caught:
        make_array("i8", (129,), "arange", 0)
    assert str(caught.value) == "arange of 129 elements does not fit into i8, whose largest value is 127"


def test_an_array_beyond_memory():
    with pytest.raises(DeviceMemoryError, match=r"^no room on the host for f64\[1048576,1048576,1048576\]: "):
        make_array("f64", (1 << 20, 1 << 20, 1 << 20), "ones", 0)


def test_npy_files(tmp_path):
    matrix = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.save(tmp_path / "a.npy", matrix)
    np.save(tmp_path / "big.npy", matrix.astype(">f4"))
    np.save(tmp_path / "fortran.npy", np.asfortranarray(matrix))
    for name in ("a.npy", "big.npy", "fortran.npy"):
        array = make_array("f32", (2, 3), name, 0, tmp_path)
        assert array.tolist() == matrix.tolist() and array.dtype == np.float32 and array.flags.c_contiguous


def test_bad_npy_files(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((2, 3), np.float32))
    np.save(tmp_path / "objects.npy", np.array([{}], object), allow_pickle=True)
    (tmp_path / "empty.npy").write_bytes(b"")
    (tmp_path / "text.npy").write_text("1 2 3")
    (tmp_path / "cut.npy").write_bytes((tmp_path / "a.npy").read_bytes()[:-4])
    (tmp_path / "folder.npy").mkdir()
    with (tmp_path / "archive.npy").open("wb") as file:
        np.savez(file, a=np.zeros(3))

    def message(name: str, element: str = "f32", shape: tuple[int, ...] = (2, 3)) -> str:
        with pytest.raises(UsageError) as caught:
            make_array(element, shape, name, 0, tmp_path)
        return str(caught.value).replace(str(tmp_path), "DIR")

    assert message("a.npy", "f64") == "DIR/a.npy: holds float32, not float64 as f64 asks"
    assert message("a.npy", shape=(6,)) == "DIR/a.npy: has the shape [2, 3], not [6]"
    assert message("none.npy") == "DIR/none.npy: there is no such file"
    assert message("folder.npy") == "DIR/folder.npy: is a folder; expected a regular file"
    assert message("archive.npy") == "DIR/archive.npy: is an archive of arrays; save one array with numpy.save"
    assert message("cut.npy") == "DIR/cut.npy: has 20 bytes of numbers, where its header says 24"
    for name in ("objects.npy", "empty.npy", "text.npy"):
        assert message(name).startswith(f"DIR/{name}: is not a .npy file of plain numbers: ")


def npy(shape: str, dtype: str = "'<f4'", data: bytes = b"", version: bytes = b"\1\0", pad: int = 0) -> bytes:
    """A .npy file by hand."""
    header = f"{{'descr': {dtype}, 'fortran_order': False, 'shape': {shape}}}".encode() + b" " * pad + b"\n"
    return b"\x93NUMPY" + version + len(header).to_bytes(2 if version == b"\1\0" else 4, "little") + header + data


@pytest.mark.parametrize(
    "data, why",
    [
        (npy("(1 << 40,)"), "is not a .npy file of plain numbers: "),
        (npy("(1099511627776,)"), "has the shape [1099511627776], not [6]"),
        (npy("(4294967296, 4294967296, 4294967296)"), "has the shape [4294967296, 4294967296, 4294967296], not [6]"),
        (npy(f"({'9' * 5000},)"), "is not a .npy file of plain numbers: "),
        (npy("(-6,)"), "has the shape [-6], not [6]"),
        (npy("(6,)"), "has 0 bytes of numbers, where its header says 24"),
        (npy("(6,)", data=bytes(25)), "has 25 bytes of numbers, where its header says 24"),
        (npy("(6,)", "'|O'", bytes(48)), "is not a .npy file of plain numbers: "),
        (npy("(6,)", "'V1000000000'"), "is not a .npy file of plain numbers: it holds |V1000000000"),
        (npy("(" * 9000, pad=0), "is not a .npy file of plain numbers: "),
        (npy("(6,)", data=bytes(24), pad=20_000), "is not a .npy file of plain numbers: its header has 20,0"),
        (
            npy("(6,)", version=b"\2\0")[:8] + b"\xff" * 4,
            "is not a .npy file of plain numbers: its header has 4,294",
        ),
        (npy("(6,)", version=b"\7\0"), "is not a .npy file of plain numbers: its version is 7.0"),
        (npy("(6,)", "'<f4'", pad=0)[:20], "is not a .npy file of plain numbers: "),
        (npy("(__import__('os'),)"), "is not a .npy file of plain numbers: "),
    ],
)
def test_hostile_npy_files(tmp_path, data, why):
    """Nothing is made room for before the header agrees with the launch and the file's length with both."""
    (tmp_path / "a.npy").write_bytes(data)
    tracemalloc.start()
    with pytest.raises(UsageError) as caught:
        make_array("f32", (6,), "a.npy", 0, tmp_path)
    peak_nbytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert str(caught.value).startswith(f"{tmp_path}/a.npy: {why}")
    assert peak_nbytes < 32 << 20


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_every_version_of_npy(tmp_path, version):
    with (tmp_path / "a.npy").open("wb") as file:
        np.lib.format.write_array(file, np.arange(6, dtype=np.float32), version)
    assert make_array("f32", (6,), "a.npy", 0, tmp_path).tolist() == [0, 1, 2, 3, 4, 5]


def test_bfloat16_rounds_to_nearest_even():
    values = np.array([1.0, 1.00390625, 1.01171875, 1.0039064, -0.0, np.inf, -np.inf, 3.4e38], np.float32)
    assert [f"{bits:04x}" for bits in bfloat16_bits(values)] == [
        "3f80",
        "3f80",
        "3f82",
        "3f81",
        "8000",
        "7f80",
        "ff80",
        "7f80",
    ]
    assert bfloat16_bits(np.array([np.nan], np.float32)).tolist() == [0x7FC0]


@pytest.mark.parametrize("element", ["f16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"])
def test_pack_number_against_numpy(element):
    dtype = ELEMENTS[element].dtype
    values = [0, 1, 100, True] + (
        [-1, 0.1, -2.5e-5, float("inf")] if element[0] == "f" else [np.iinfo(dtype).min, np.iinfo(dtype).max]
    )
    assert [pack_number(element, value) for value in values] == [
        np.array(value).astype(dtype).tobytes() for value in values
    ]
