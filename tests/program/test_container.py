"""Device code out of executables: fatbins, and the two compressions that nvcc keeps their PTX in."""

import base64
import shutil
import subprocess
from pathlib import Path

import pytest

from gpuprof.errors import UsageError
from gpuprof.program.fatbin import container, lz4, zstd

FOLDER = Path(__file__).parent / "fatbins"
# What `zstd -19 --no-check` makes of a text, in base 85.
FRAMES = (
    (
        "D77#B0BB7B00?0L0BjLC5CQ",
        b"a" * 70000,
    ),
    (
        "D77#B0BAh{0QhWVE@y0SVqt79bu%&`C2}z=AX_DJWHDVk3UXz1I{^S|;Qt&0",
        b"ld.global.u32 %r1, [%rd1];\n" * 40 + b"ret;",
    ),
    (
        "D77#B0BDs208&jK55VOC<(5R+T@q=lsw!pyV`X7U^Qw;NMbd%_hA>1S$3Hq`u-45(mpaZ6iM@F~hh@pX0+NPec;AOrd2j@h777Dx"
        "y2pO~fI29F>@Srz^7*+HL^JqOt0_}C4R_lD#-lr*2t*SDC`t>}iLdHXX@ixO=m5s<0HH;V1O)(Eep3asO~T>9eNh+$$e2<",
        bytes(i * i % 251 % 17 + 97 for i in range(600)),
    ),
    (
        "D77#B07z{I08&mN6QHFa56hwe@YanKNs{{kj(<}F13@O{rDf&QNjaH_cxYI7G!hQx;oaHQ{d{zDX=rC=Wj7nySQgfmRn^NyHI>KT"
        "?e*WM&(r9$xqRE?F%c0FksvD$QAw;+hzefiLR8Kw8KPoUp%9gN<sm9}#X?j}6%0|K!Bi$hWkS>+01yxe2x_PSnLO*h0g$884H29o"
        "gi&Gl1MFdVh}xM0e<dj;JWgi@{S~H|@R*$(^k*1j2oSE?IJypX;TL>*=nF|7dcmWIyb$zZ7yNms3ppQh!JCJ;kU8SHU2oQ8YGP_;"
        "1}$|issa",
        b"".join(b"add.s32 %%r%d, %%r%d, %d;" % (i % 9, i * 7 % 9, i) for i in range(90)),
    ),
    (
        "D77#B0BHRM0P;*762KQa*6|PI?v!MbDT%g=eoz8~@!zlabbg=9hi|)Flj(UZ9`$lnwWwIDDXG!dt+rHlok|CtOhqLk(r8F%@HC4h"
        "ksOD@vCpe@G;W*8#(X?A9U9JNMrI5yZs8JDfOts|1qTq_0EA~CLJR@Gcn}l{gkq==AU*6EfET2o0}(I;6hUEx6+b6T96C1KsOr!K"
        "xZm`xH{R}6x7^^?%^L|oDeUnAXRs!=fRJcIIASze5X%70ib3#G",
        b"".join(b"add.s32 %%r%d, %%r%d, %d;" % (i % 9, i * 7 % 9, i) for i in range(90)),
    ),
)


@pytest.mark.parametrize("coded, content", FRAMES)
def test_zstandard(coded, content):
    assert zstd.decompress(base64.b85decode(coded)) == content


@pytest.mark.parametrize("level", ["-1", "-9", "-19"])
def test_zstandard_as_its_own_tool_writes_it(level):
    if shutil.which("zstd") is None:
        pytest.skip("there is no zstd")
    content = b"".join(b"mul.wide.s32 %%rd%d, %%r%d, %d;\n" % (i % 7, i * i % 31, i) for i in range(5000))
    done = subprocess.run(["zstd", level, "-c"], input=content, capture_output=True, check=True)
    assert zstd.decompress(done.stdout) == content


@pytest.mark.parametrize("at", [0, 4, 9, 20, 40])
def test_damaged_zstandard_is_refused_or_something_else(at):
    good = base64.b85decode(FRAMES[-1][0])
    for wrong in (good[:at], good[:at] + bytes([good[at] ^ 0xFF]) + good[at + 1 :]):
        try:
            assert zstd.decompress(wrong) != FRAMES[-1][1]
        except UsageError as error:
            assert str(error).startswith("Zstandard data are damaged")


def block(content: bytes) -> bytes:
    """A frame of one compressed block."""
    return zstd.MAGIC + b"\x20\0" + (len(content) << 3 | 5).to_bytes(3, "little") + content


def coded_literals(coded: bytes, n: int = 4) -> bytes:
    """A frame of literals in a Huffman code, one stream of them."""
    return block((2 | n << 4 | len(coded) << 14).to_bytes(3, "little") + coded + b"\0")


@pytest.mark.parametrize(
    "coded, told",
    [
        # one symbol has the whole table: each state is followed by itself, without an end
        (coded_literals(bytes([4, 0xF1, 0x07, 0, 0x80])), "a tree has too many weights"),
        # two weights of 15: the codes are longer than there are
        (coded_literals(bytes([0x80 | 1, 0xFF, 1])), "a tree's weights are wrong"),
        (coded_literals(bytes([0x80, 0x10, 1]), n=1000), "a stream ends early"),
    ],
)
def test_zstandard_without_an_end_is_refused(coded, told):
    with pytest.raises(UsageError, match=told):
        zstd.decompress(coded)


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
        "the executable has PTX for sm_80 and later alone; sm_70 needs PTX: build with nvcc -gencode arch=compute_70,"
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
