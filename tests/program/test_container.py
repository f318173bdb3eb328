"""Device code out of executables: fatbins, and the two compressions that nvcc keeps their PTX in."""

from pathlib import Path

import pytest

from gpuprof.errors import UsageError
from gpuprof.program.fatbin import container, lz4
from gpuprof.program.fatbin.container import zstd

FOLDER = Path(__file__).parent / "fatbins"


def fatbin_of(frame: bytes) -> bytes:
    """A fatbin for sm_80 whose PTX is a frame of Zstandard."""
    fields = (
        container.PTX_KIND,
        0,
        container.ENTRY.size,
        len(frame),
        len(frame),
        0,
        0,
        8,
        80,
        0,
        container.ZSTD_FLAG,
        0,
    )
    entry = container.ENTRY.pack(*fields, 0) + frame
    return container.HEAD.pack(container.MAGIC, 1, container.HEAD.size, len(entry)) + entry


@pytest.mark.parametrize("level", [1, 9, 19])
def test_zstandard(level):
    content = b"".join(b"mul.wide.s32 %%rd%d, %%r%d, %d;\n" % (i % 7, i * i % 31, i) for i in range(5000))
    assert container.ptx_of(fatbin_of(zstd.compress(content, level=level)), 80) == content.decode()


FRAME = zstd.compress(b"ld.global.u32 %r1, [%rd1];" * 40, options={zstd.CompressionParameter.checksum_flag: 1})


@pytest.mark.parametrize("n_bytes", [0, 4, 9, 20, len(FRAME) - 1])
def test_zstandard_that_ends_early(n_bytes):
    with pytest.raises(UsageError, match=r"^Zstandard data are damaged: they end early"):
        container.ptx_of(fatbin_of(FRAME[:n_bytes]), 80)


@pytest.mark.parametrize("at", range(len(FRAME)))
def test_damaged_zstandard(at):
    wrong = FRAME[:at] + bytes([FRAME[at] ^ 0xFF]) + FRAME[at + 1 :]
    with pytest.raises(UsageError, match=r"^Zstandard data "):
        container.ptx_of(fatbin_of(wrong), 80)


def test_zstandard_of_too_much(monkeypatch):
    """A frame that says how long it is, and one that does not."""
    monkeypatch.setattr(container, "MOST_NBYTES", 1000)
    assert len(container.ptx_of(fatbin_of(zstd.compress(bytes([65]) * 1000)), 80)) == 1000
    for is_known in (0, 1):
        large = zstd.compress(bytes([65]) * 1001, options={zstd.CompressionParameter.content_size_flag: is_known})
        with pytest.raises(UsageError, match=r"^Zstandard data hold more than 1000 bytes"):
            container.ptx_of(fatbin_of(large), 80)


def test_a_window_that_fills_the_memory_is_refused():
    """A frame head with a window of 2^41 bytes, and no more content than one byte."""
    frame = b"\x28\xb5\x2f\xfd" + b"\0\xff" + (1 << 3 | 1).to_bytes(3, "little") + b"a"
    with pytest.raises(UsageError, match=r"^Zstandard data are damaged: "):
        container.ptx_of(fatbin_of(frame), 80)


def test_lz4():
    """Five literals, a match that overlaps itself, three literals: the examples of the format's own page."""
    coded = bytes([0x5F, *b"abcde", 5, 0, 6, 0x30, *b"xyz"])
    assert lz4.decompress(coded, 33) == b"abcde" * 6 + b"xyz"
    assert lz4.decompress(bytes([0x10, *b"a", 1, 0, 0x10, *b"b"]), 6) == b"aaaaab"


@pytest.mark.parametrize(
    "coded, nbytes, told",
    [
        (b"\x10a\x02\x00", 5, "LZ4 data are damaged"),
        (b"\xf0", 30, "LZ4 data are damaged"),
        (b"\x10a", 3, "LZ4 data hold 1 bytes; 3 were expected"),
    ],
)
def test_damaged_lz4(coded, nbytes, told):
    with pytest.raises(UsageError, match=told):
        lz4.decompress(coded, nbytes)


def test_the_ptx_is_the_same_however_it_is_kept():
    """The plain file shows its own text."""
    plain = (FOLDER / "plain.fatbin").read_bytes()
    text = container.ptx_of(plain, 80)
    assert text.encode() in plain and ".visible .entry _Z3addPii(" in text and text.endswith("ret;\n\n}\n\n")
    for name in ("lz4", "zstd"):
        assert container.ptx_of((FOLDER / f"{name}.fatbin").read_bytes(), 90) == text


def test_ptx_for_a_later_gpu_is_refused():
    with pytest.raises(UsageError) as told:
        container.ptx_of((FOLDER / "zstd.fatbin").read_bytes(), 70)
    assert str(told.value) == (
        "the executable has only PTX for sm_80 and later; sm_70 needs PTX: build with nvcc -gencode arch=compute_70,"
        "code=compute_70"
    )


@pytest.mark.parametrize("nbytes", [0, 3, 16, 40, 90])
def test_a_fatbin_that_ends_early(nbytes):
    with pytest.raises(UsageError, match="no fatbin that gpuprof can read"):
        container.ptx_of((FOLDER / "plain.fatbin").read_bytes()[:nbytes], 80)


@pytest.mark.parametrize("at, value", [(16 + 4, 8), (16 + 8, 0)])
def test_a_fatbin_that_contradicts_itself(at, value):
    """An entry's head that is too short; compressed text that is longer than all that follows."""
    data = bytearray((FOLDER / "zstd.fatbin").read_bytes())
    data[at : at + 4] = value.to_bytes(4, "little")
    with pytest.raises(UsageError, match="no fatbin that gpuprof can read"):
        container.ptx_of(bytes(data), 80)
