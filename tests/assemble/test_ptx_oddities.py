"""PTX as it comes: every line end and encoding, other versions and targets, debug sections, what linkers and libraries
leave behind.
"""

import numpy as np
import pytest

import gpuprof
from gpuprof.errors import GpuprofError

BASE = """\
.version 9.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [p];
	cvta.to.global.u64 %rd2, %rd1;
	mov.u32 %r1, %tid.x;
	st.global.u32 [%rd2], 7;
	ret;
}
"""
FUNCTION = ".func (.param .b32 r) helper(.param .b32 a)"
CALL = (
    "{.param .b32 a0; .param .b32 r0; st.param.b32 [a0], 5; call.uni (r0), helper, (a0); ld.param.b32 %r2, [r0]; "
    "st.global.u32 [%rd2], %r2;} ret;"
)
BODY = "{ .reg .b32 t; ld.param.b32 t, [a]; add.s32 t, t, 2; st.param.b32 [r], t; ret; }\n"
SECTIONS = """
	.section .debug_abbrev
	{
.b8 1
.b8 17,0,3
.b32 .debug_abbrev
.b64 $L__func_begin0
.b32 $L__info_end-$L__info_start
L:
.b16 2
	}
	.section	.debug_macinfo	{	}
	.section .nv.info.k {.b8 1}
"""
INLINED = """mov.u32 %r2, 0;
	.loc 1 5 3
	.loc 2 7 1, function_name $L__info_string0, inlined_at 1 5 3
	.loc 2 9 1, function_name $L__info_string0+10, inlined_at 2 7 1
"""
NAMES = ".section .debug_str { $L__info_string0:\n.b8 95,90,49,102,118,0\n$L__info_string1:\n.b8 0\n }\n"


def changed(*pairs: str) -> bytes:
    text = BASE
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        assert old in text
        text = text.replace(old, new, 1)
    return text.encode()


def stored(tmp_path, data: bytes) -> int:
    """What the kernel stores; everything else in these files is to be read over."""
    path = tmp_path / "k.ptx"
    path.write_bytes(data)
    found = np.zeros(1, np.uint32)
    gpuprof.Device().load(path).k[1, 1](found)
    return int(found[0])


READ = {
    "as it is": changed(),
    "DOS line ends": BASE.replace("\n", "\r\n").encode(),
    "old line ends": BASE.replace("\n", "\r").encode(),
    "byte order mark": b"\xef\xbb\xbf" + BASE.encode(),
    "two bytes a character": BASE.encode("utf-16"),
    "a zero at the end": BASE.encode() + b"\0",
    "zeros at the end": BASE.encode() + b"\0\0\n\0\n",
    "no last line end": BASE.rstrip().encode(),
    "a comment ends it": BASE.encode() + b"// the end",
    "Latin-1 in a comment": BASE.encode().replace(b"ret;", b"ret; // caf\xe9"),
    "odd comments": changed("ret;", "// \" quote ' { } ; \\ \u2603 \x0c\n /* several \n lines \" */ ret; // end"),
    "a file name with tabs and quotes": changed(".address", '.file\t1\t"a\tb \\"q\\" \\\\x.cu", '
        '123 , 456\n.file 2 "x" \n.address'),
    "pragmas": changed(".reg .b32", '.pragma "nounroll";\n .pragma "a", "b";\n.reg '
        '.b32', ".visible", '.pragma "x", "y";\n.visible'),
    "debug sections": BASE.encode() + SECTIONS.encode(),
    "inlined calls": changed(".address", '.file 1 "a.cu"\n.file 2 '
        '"b.h"\n.address', "mov.u32", INLINED + "mov.u32") + NAMES.encode(),
    "directives without blanks": changed(".reg .b32", ".reg.b32", ".visible .entry", ".visible.entry", ".param .u64",
        ".param.u64.ptr.global.align 8"),
    "a pointer's attributes": changed(".param .u64 p", ".param .u64 .ptr .global .align 4 p"),
    "launch bounds": changed("p)\n", 'p)\n.maxntid 128, 1, 1\n.minnctapersm 4\n.maxnreg 64\n.pragma "abc";\n'),
    "a required block": changed("p)\n", "p)\n.reqntid 1\n"),
    "labels of a debugger": changed("ret;", "$L__tmp3:\nret;\n$L__func_end0:\n"),
    "names with $ and _": changed("%r<4>", "%r<4>, %_a$b", "mov.u32 %r1", "mov.u32 %_a$b"),
    "a kernel declared first": changed(".visible .entry k", ".visible .entry k(.param .u64 p)\n;\n.visible .entry k"),
    "several kernels": BASE.encode() + BASE[BASE.index(".visible") :].replace("k(", "k2(").encode(),
    "what is declared and not used": changed(".visible", f".extern {FUNCTION};\n.extern .global .align 4 .u32 "
        "g;\n.extern .const .align 4 .b8 c[];\n.visible"),
    "functions of all kinds": BASE.encode() + f".visible {FUNCTION}{BODY}.weak .func w() {{ret;}}\n.func x() .noreturn "
        f"{{trap;}}\n".encode(),
    "a function defined behind its "
        "use": changed(".visible", f".extern {FUNCTION};\n.visible", "], 7;", "], 0;", "ret;",
            CALL) + f".visible {FUNCTION}{BODY}".encode(),
    "a common variable": BASE.encode() + b".common .global .u32 cm;\n.weak .const .f32 w = 1.5;",
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_read(tmp_path, name):
    assert stored(tmp_path, READ[name]) == 7


TARGETS = (
    "sm_35", "sm_52", "sm_75", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_103f", "sm_120", "sm_120a", "sm_80, debug",
    "sm_80, texmode_independent", "sm_10, map_f64_to_f32",
)  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
def test_targets(tmp_path, target):
    """What a file is made for says nothing about what it needs: instructions do."""
    assert stored(tmp_path, changed("sm_80", target)) == 7


@pytest.mark.parametrize("version", ("1.0", "3.2", "6.5", "8.8", "9.0", "9.1", "12.4"))
def test_versions(tmp_path, version):
    assert stored(tmp_path, changed("9.0", version)) == 7


CONSTANTS = {
    "0x7U": 7, "07": 7, "07U": 7, "0b111": 7, "0b111U": 7, "7U": 7, "010": 8, "-1": 0xFFFFFFFF,
    "0xFFFFFFFF": 0xFFFFFFFF, "0XffU": 255,
    "4294967295": 0xFFFFFFFF, "!0": 1, "~1": 0xFFFFFFFE, "(3+4)": 7, "1<<2": 4, "3?1:2": 1,
    "18446744073709551615": 0xFFFFFFFF, "0x1FFFFFFFF": 0xFFFFFFFF,
}  # fmt: skip


@pytest.mark.parametrize("text, value", CONSTANTS.items())
def test_constants(tmp_path, text, value):
    assert stored(tmp_path, changed("], 7;", f"], {text};")) == value


@pytest.mark.parametrize("text", ["0f40e00000", "0F40E00000"])
def test_a_float_is_a_constant_of_untyped_instructions(tmp_path, text):
    assert stored(tmp_path, changed("st.global.u32", "st.global.b32", "], 7;", f"], {text};")) == 0x40E00000


REFUSED = {
    "a zero inside": (changed("ret;", "ret;\0"), "k.ptx:12:6: unexpected character '\\x00'"),
    "a cubin": (b"\x7fELF\x02\x01\x01" + bytes(60), "this is an ELF file (a cubin or an object), not PTX; `cuobjdump "
        "-ptx` extracts its PTX"),
    "a fatbin": (b"\x50\xed\x55\xba\x01\x00\x10\x00" + bytes(60), "this is a fatbin, not PTX; "
        "`cuobjdump -ptx` extracts its PTX"),
    "bitcode": (b"BC\xc0\xde" + bytes(60), "this is LLVM bitcode, not PTX"),
    "nothing": (b"", "no `.target` directive: this is not a PTX file"),
    "octal 8": (changed("], 7;", "], 08;"), "k.ptx:11:24: '08' is not a number"),
    "a double in 32 bits": (changed("], 7;", "], 0d401C000000000000;"), "k.ptx:11:2: st.global.u32: "
        "the constant is not of type .u32"),
    "32-bit addresses": (changed(".address_size 64", ".address_size 32"), "k.ptx:3:15: only "
        ".address_size 64 is supported"),
    "a comment without end": (BASE.encode() + b"/* and", "k.ptx:14:1: "),
    "a function from elsewhere": (changed(".visible", f".extern {FUNCTION};\n.visible", "ret;", CALL), "helper"),
    "a variable from elsewhere": (
        changed(".visible", ".extern .global .u32 g;\n.visible", "ret;", "ld.global.u32 %r2, [g]; "
            "st.global.u32 [%rd2], %r2; ret;"),
        "k.ptx:13:2: ld.global.u32: g is declared .extern, but not defined in this module",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(tmp_path, name):
    data, message = REFUSED[name]
    with pytest.raises(GpuprofError) as error:
        stored(tmp_path, data)
    assert message in str(error.value)
