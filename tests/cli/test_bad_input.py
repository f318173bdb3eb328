"""What bad input gets: the whole of stderr, the exit code, and a folder that is as it was before.

A message says what is wrong, where, and what to do. `collect` never leaves half a recording: the previous one keeps its
name.
"""

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest

from gpuprof.chips import list_chips
from gpuprof.correlate.schema import VERSION as DATABASE_VERSION
from gpuprof.records.schema import MAGIC, VERSION as RECORDS_VERSION
from tests.support.command import PROGRAM, gpuprof, names, process, write_files
from tests.support.matrices import long_from

KERNELS = """\
// LAUNCH: fine<<<1, 32>>>(x: f32[64], 64)
__global__ void fine(float *x, int n) { if (threadIdx.x < n) x[threadIdx.x] = 1; }
__global__ void shifted(int *x, int by)
{
    x[(int)threadIdx.x + by] = 1;
}
__global__ void misaligned(char *x)
{
    *(int *)(x + 2) = 1;
}
__global__ void spin(volatile int *flag)
{
    flag[1] = 1;
    while (flag[0] == 0) {
    }
}
__global__ void small(int *x)
{
    __shared__ int s[4];
    s[threadIdx.x] = x[0];
    x[1] = s[3];
}
__global__ void asserted(int *x) { if (x[0] == 0) __trap(); }
"""
BROKEN = "__global__ void k(int *x)\n{\n    x[0] = y;\n}\n// LAUNCH: k<<<1, 1>>>(i32[1])\n"
MULTIMEM = """\
.version 7.0
.target sm_80
.address_size 64
.file 1 "k.cu"
.visible .entry k(.param .u64 p)
{
    .reg .b64 %rd<2>;
    .reg .b32 %r<2>;
    .loc 1 12 5
    ld.param.u64 %rd1, [p];
    multimem.red.relaxed.sys.global.add.u32 [%rd1], %r1;
    ret;
}
"""
INLINE_PTX = (
    '__global__ void k(int *x)\n{\n    asm volatile("frobnicate.b32 %0;" : "=r"(x[0]));\n}\n// LAUNCH: k<<<1, '
    "1>>>(i32[1])\n"
)
FILES = {
    "kernels.cu": KERNELS, "broken.cu": BROKEN, "multimem.ptx": MULTIMEM, "asm.cu": INLINE_PTX, "empty.cu": "",
    "empty.ptx": "",
    "silent.cu": "__global__ void k(int *x) { x[0] = 1; "
        "}\n", "kernels.gprec": MAGIC + b"the previous recording",
    "foreign.gprec": b"\x00\x01\xffGPU",
    "nothing.gprec": "", "strange.gpubin": b"ABCD and no ELF", "nothing.gpubin": "", "kernels.txt": "",
    "folder.gprec/inside": "",
}  # fmt: skip

DIAGNOSTICS = """\
broken.cu:3:12: error: use of undeclared identifier 'y'
    3 |     x[0] = y;
      |            ^
1 error generated when compiling for sm_80.
gpuprof: broken.cu does not compile
"""
NO_CLANG = (
    "gpuprof: /nowhere/clang: no such program: name a clang with --compiler PATH, or leave it out to use the one "
    "of `pip install ziglang`\n"
)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("bad"), FILES)


@pytest.fixture
def folder(prepared, tmp_path):
    shutil.copytree(prepared, tmp_path / "bad")
    return tmp_path / "bad"


def refused(folder, code: int, error: str, *arguments: str) -> None:
    """The command ends with that code and that text, and leaves no file and changes none."""
    before = snapshot(folder)
    got, _, told = gpuprof(folder, *arguments)
    assert (got, told) == (code, error)
    assert snapshot(folder) == before


def snapshot(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in names(folder) if (folder / name).is_file()}


# Sources.


@pytest.mark.parametrize(
    "arguments, code, error",
    [
        (("collect", "broken.cu"), 1, DIAGNOSTICS),
        (("compile", "broken.cu"), 1, DIAGNOSTICS),
        (("collect", "kernels.cu", "--compiler", "/nowhere/clang"), 1, NO_CLANG),
        (("compile", "kernels.cu", "--compiler", "/nowhere/clang"), 1, NO_CLANG),
        (
            ("compile", "multimem.ptx"),
            1,
            "gpuprof: multimem.ptx:11: unsupported instruction multimem.red.relaxed.sys.global.add.u32 (source "
                "k.cu:12)\n",
        ),
        (
            ("collect", "multimem.ptx", "--launch", "k<<<1, 1>>>(f32[1])"),
            1,
            "gpuprof: multimem.ptx:11: unsupported instruction multimem.red.relaxed.sys.global.add.u32 (source "
                "k.cu:12)\n",
        ),
        (("compile", "empty.ptx"), 1, "gpuprof: empty.ptx: no `.target` directive: this is not a PTX file\n"),
        (("collect", "absent.cu"), 2, "gpuprof: absent.cu: there is no such file\n"),
        (("compile", "absent.cu"), 2, "gpuprof: absent.cu: there is no such file\n"),
        (("debug", "absent.cu"), 2, "gpuprof: absent.cu: there is no such file\n"),
        (("collect", "folder.gprec"), 2, "gpuprof: folder.gprec: is a folder\n"),
        (("collect", "kernels.txt"), 2, "gpuprof: kernels.txt: unknown kind of file; expected .cu, .cuh, .ptx, "
            ".gpubin, .py\n"),
        (("collect", "kernels.cu", "-o", "kernels.cu"), 2, "gpuprof: kernels.cu: is read by this command; give "
            "another name\n"),
        (("collect", "kernels.cu", "-o", "folder.gprec"), 2, "gpuprof: folder.gprec: is a folder; give a file name\n"),
        (("compile", "kernels.cu", "-o", "folder.gprec"), 2, "gpuprof: folder.gprec: is a folder; give a file name\n"),
        (
            ("collect", "silent.cu"),
            2,
            "gpuprof: silent.cu: nothing to launch; give --launch 'kernel<<<grid, block>>>(arguments)', or a "
            "comment `// LAUNCH: ...` in the source (kernels: k)\n",
        ),
        (("collect", "strange.gpubin"), 1, "gpuprof: strange.gpubin: not a gpubin: it starts with b'ABCD', not with a "
            "64-bit ELF header; `gpuprof compile` makes gpubin files\n"),
    ],
)  # fmt: skip
def test_sources(folder, arguments, code, error):
    refused(folder, code, error, *arguments)


def test_an_instruction_that_is_only_in_inline_ptx(folder):
    """The user's own line is named, and the line of the PTX that clang made of it."""
    code, _, error = gpuprof(folder, "collect", "asm.cu")
    assert code == 1
    assert (
        error.startswith("gpuprof: asm.cu:3: unsupported instruction frobnicate.b32 (PTX line ")
        and error.count("\n") == 1
    )


def test_no_clang_at_all(folder):
    """The program as it is where ziglang is not installed and PATH has no clang."""
    script = (
        "import sys; sys.modules['ziglang'] = None; sys.argv = ['gpuprof', 'compile', 'kernels.cu']; from "
        "gpuprof.cli.main import main; main()"
    )
    done = subprocess.run(
        [PROGRAM[0], "-c", script], cwd=folder, capture_output=True, text=True, timeout=60,
        env=os.environ | {"PATH": str(folder), "GPUPROF_CACHE": str(folder / "cache")},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("gpuprof: ") and done.stderr.count("\n") == 1
    assert "clang" in done.stderr and "pip install ziglang" in done.stderr and "--compiler" in done.stderr


# Launches.


def launch_error(text: str, message: str) -> tuple[str, str]:
    return text, f"gpuprof: --launch: {message}\n    {text}\n"


@pytest.mark.parametrize(
    "text, error",
    long_from(6, [
        launch_error("fine<<<1, 32>>>(f32[64])", "fine takes 2 parameters (float *, int) but 1 was given"),
        launch_error("fine<<<1, 32>>>(f32[64], 64, 1)", "fine takes 2 parameters (float *, int) but 3 were given"),
        launch_error("fine<<<1, 32>>>(i32[64], 64)", "fine: argument 1 (float *): expected an array of float, got int "
            "(i32)"),
        launch_error("fine<<<1, 32>>>(f32[64], 6.5)", "fine: argument 2 (int): expected an integer, got 6.5"),
        launch_error("fine<<<1, 32>>>(7, 64)", "fine: argument 1 (float *): expected an array, got the number 7"),
        launch_error("fine<<<1, 32>>>(x, 64)", "array x is not defined yet; define it where it is first used, as in x: "
            "f32[1024]=random"),
        launch_error("fine<<<1, 32>>>(f32[64]=none.npy, 64)", "none.npy: there is no such file"),
        launch_error("fein<<<1, 32>>>(f32[64], 64)", "kernels.cu has no kernel fein; it has fine, shifted, misaligned, "
            "spin, small, asserted. Did you mean fine?"),
        launch_error("fine<<<1, 2048>>>(f32[64], 64)", "fine: the block's x extent is 2048; it must be 1 to 1024"),
        launch_error("fine<<<1, (64, 32)>>>(f32[64], 64)", "fine: a block of 64x32x1 has 2048 threads; a100 allows "
            "1024"),
        launch_error("fine<<<0, 32>>>(f32[64], 64)", "fine: the grid's x extent is 0; it must be 1 to 2147483647"),
        launch_error("fine<<<1, 32, 200000>>>(f32[64], 64)", "fine: 200000 bytes of shared memory per block "
            "(0 static, 200000 dynamic); a100 allows 166912"),
    ]),
)  # fmt: skip
def test_launches(folder, text, error):
    refused(folder, 2, error, "collect", "kernels.cu", "--launch", text)


def test_all_launches_are_checked_before_the_first_one_runs(folder):
    text = "fine<<<1, 32>>>(f32[64])"
    error = f"gpuprof: --launch: fine takes 2 parameters (float *, int) but 1 was given\n    {text}\n"
    refused(folder, 2, error, "collect", "kernels.cu", "--launch", "fine<<<1, 32>>>(f32[64], 64)", "--launch", text)


def test_a_launch_that_cannot_be_read_shows_where(folder):
    error = "gpuprof: --launch: expected '<<<'\n    fine<1, 32>(f32[64], 64)\n               ^\n"
    refused(folder, 2, error, "collect", "kernels.cu", "--launch", "fine<1, 32>(f32[64], 64)")


@pytest.mark.parametrize(
    "arguments, error",
    [
        (("collect",), "missing argument 'FILE'; see `gpuprof collect --help`"),
        (("colect",), "no such command 'colect'; did you mean collect? see `gpuprof --help`"),
        (("collect", "kernels.cu", "--perod", "3"), "no such option '--perod'; did you mean --period? see "
            "`gpuprof collect --help`"),
        (("sweep", "kernels.cu", "--chip", "a100"), "no such option '--chip'; did you mean --chips or --zip? see "
            "`gpuprof sweep --help`"),
        (("list",), "missing argument 'KIND'. Choose from: chips, hosts, stalls, causes, triggers, metrics, samples, "
            "instructions, traces, findings, project-keys, budgets; see `gpuprof list --help`"),
        (("collect", "kernels.cu", "more"), "'more': only a program or a .py script takes further arguments; leave "
            "it out"),
        (("collect", "kernels.cu", "--period", "31"), "sampling period 31: it must be 0 (off) or 32 to 2147483648 "
            "cycles"),
        (("collect", "kernels.cu", "--period", "soon"),
         "invalid value for '--period': 'soon' is not a number of cycles, such as 1024 or 2^10; see `gpuprof collect "
             "--help`"),
        (("collect", "kernels.cu", "--max-cycles", f"{(1 << 62) + 1}"),
         "invalid value for '--max-cycles': 4611686018427387905: must be at most 2^62; see `gpuprof collect --help`"),
        (("collect", "kernels.cu", "--partition", f"{1 << 70}"), "invalid value for '--partition': "
            f"{1 << 70} is not in the range 0<=x<=2147483647; see `gpuprof collect --help`"),
        (("collect", "kernels.cu", "--chip", "a1000"), "unknown chip 'a1000'; did you mean a100? Known chips: "
            f"{', '.join(list_chips())}, or the path of a .toml file"),
        (("explain", "long_scorebord"), "unknown word 'long_scorebord'; did you mean long_scoreboard or "
            "short_scoreboard?"),
        (("report", "absent.gprec"), "absent.gprec: there is no such file"),
        (("records", "absent.gprec"), "absent.gprec: there is no such file"),
        (("correlate", "absent.gprec"), "absent.gprec: there is no such file"),
        (("disasm", "absent.gpubin"), "absent.gpubin: there is no such file"),
        (("check", "absent.gprec", "--baseline", "b.txt"), "absent.gprec: there is no such file"),
    ],
)  # fmt: skip
def test_usage(folder, arguments, error):
    refused(folder, 2, f"gpuprof: {error}\n", *arguments)


# Kernels that fault.


@pytest.mark.parametrize(
    "text, error",
    long_from(
        3,
        [
            (
                "shifted<<<2, 32>>>(i32[40], 9)",
                "shifted: kernels.cu:5, thread (31, 0, 0) of block (0, 0, 0): out of bounds write of 4 bytes in global "
                "memory at 0x7000002a0; "
                "0x7000002a0 is just past the end of argument 1 of shifted, i32[40] (160 bytes at 0x700000200)",
            ),
            (
                "shifted<<<2, (8, 2)>>>(i32[40], -4)",
                "shifted: kernels.cu:5, thread (0, 0, 0) of block (0, 0, 0): out of bounds write of 4 bytes in global "
                "memory at 0x7000001f0; "
                "0x7000001f0 is 16 bytes before argument 1 of shifted, i32[40] (160 bytes at 0x700000200)",
            ),
            (
                "shifted<<<1, 32>>>(null, 0)",
                "shifted: kernels.cu:5, thread (0, 0, 0) of block (0, 0, 0): out of bounds write of 4 bytes in global "
                "memory at 0x0; "
                "0x0 is the null address",
            ),
            (
                "misaligned<<<1, 1>>>(i8[64])",
                "misaligned: kernels.cu:9, thread (0, 0, 0) of block (0, 0, 0): misaligned write of 4 bytes in global "
                "memory at 0x700000202; "
                "0x700000202 is byte 2 of argument 1 of misaligned, i8[64] (64 bytes at 0x700000200)",
            ),
            (
                "small<<<1, 32>>>(i32[2])",
                "small: kernels.cu:20, thread (4, 0, 0) of block (0, 0, 0): out of bounds write of 4 bytes in shared "
                "memory at 0x10; "
                "the block has 16 bytes of shared memory",
            ),
            (
                "asserted<<<2, 32>>>(i32[1])",
                "asserted: kernels.cu:23, thread (0, 0, 0) of block (0, 0, 0): trap executed",
            ),
        ],
    ),
)
def test_faults(folder, text, error):
    """The launch that ended before is kept, and the page says what is not there."""
    error += "; the part before can be read: gpuprof report kernels.gprec"
    code, _, told = gpuprof(
        folder, "collect", "kernels.cu", "--launch", "fine<<<1, 32>>>(f32[64], 64)", "--launch", text
    )
    assert (code, told) == (1, f"gpuprof: {error}\n")
    code, out, _ = gpuprof(folder, "report", "kernels.gprec", "--page", "summary", "--width", "1000")
    fault = error.partition("; the part before")[0]
    assert (
        code == 0 and f"NOT COMPLETE, it was cut off; the numbers cover the part before\n# note       {fault}\n" in out
    )


def test_an_endless_loop(folder):
    error = (
        "gpuprof: spin: kernels.cu:14, thread (0, 0, 0) of block (0, 0, 0): still running after 5000 instructions of a "
        "warp; "
        "if this is no endless loop, raise the limit with --max-instructions\n"
    )
    refused(folder, 1, error, "collect", "kernels.cu", "--launch", "spin<<<1, 32>>>(i32[2])", "--max-cycles", "5000")
    limits = ("--max-instructions", "5000", "--max-cycles", "6000")
    refused(folder, 1, error, "collect", "kernels.cu", "--launch", "spin<<<1, 32>>>(i32[2])", *limits)


# Damaged, foreign and newer files.


@pytest.fixture(scope="module")
def good(prepared, tmp_path_factory):
    """A recording and its database."""
    folder = write_files(tmp_path_factory.mktemp("good"), {"kernels.cu": KERNELS})
    assert gpuprof(folder, "collect", "kernels.cu", "--period", "32")[0] == 0
    assert gpuprof(folder, "correlate", "kernels.gprec")[0] == 0
    assert gpuprof(folder, "compile", "kernels.cu")[0] == 0
    return folder


@pytest.mark.parametrize("command", ["records", "correlate", "report"])
@pytest.mark.parametrize(
    "name, text",
    [("foreign.gprec", "is not a gpuprof recording (.gprec)"), ("nothing.gprec", "is empty, not a gpuprof recording")],
)
def test_foreign_recordings(folder, command, name, text):
    if command == "report":  # it takes either kind of file
        text = text.replace("is not a gpuprof recording (.gprec)", "is neither a recording nor a database of gpuprof; ")
        text = (
            text.replace("is empty, not a gpuprof recording", "is empty; ")
            + "expected a file of `gpuprof collect` or `gpuprof correlate`"
        )
    refused(folder, 1, f"gpuprof: {name}: {text}\n", command, name)


def changed(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


@pytest.mark.parametrize("command", ["records", "correlate", "report", "check"])
def test_a_newer_recording(good, tmp_path, command):
    data = (good / "kernels.gprec").read_bytes()
    version = data.index(RECORDS_VERSION.to_bytes(2, "little"), 5)
    write_files(tmp_path, {"new.gprec": changed(data, version, (RECORDS_VERSION + 1).to_bytes(2, "little"))})
    more = ("--baseline", "b.txt") if command == "check" else ()
    error = (
        f"gpuprof: new.gprec: has format version {RECORDS_VERSION + 1}, and this gpuprof reads up to "
        f"{RECORDS_VERSION}: use a newer gpuprof\n"
    )
    refused(tmp_path, 1, error, command, "new.gprec", *more)


def test_a_newer_database(good, tmp_path):
    shutil.copy(good / "kernels.gpudb", tmp_path / "new.gpudb")
    with closing(sqlite3.connect(tmp_path / "new.gpudb")) as db:
        db.execute(f"PRAGMA user_version = {DATABASE_VERSION + 1}")
    error = (
        f"gpuprof: new.gpudb: has schema version {DATABASE_VERSION + 1}, and this gpuprof reads up to "
        f"{DATABASE_VERSION}: use a newer gpuprof\n"
    )
    refused(tmp_path, 1, error, "report", "new.gpudb")


def test_a_recording_that_is_cut_off(good, tmp_path):
    """Every command says at which byte, and gives what comes before."""
    data = (good / "kernels.gprec").read_bytes()
    write_files(tmp_path, {"cut.gprec": data[:-6]})
    code, out, error = gpuprof(tmp_path, "records", "cut.gprec")
    assert (code, out) == (1, gpuprof(good, "records", "kernels.gprec")[1])
    damage = error.removeprefix("gpuprof: cut.gprec: ").removesuffix("; the records above are intact\n")
    assert damage.startswith("at byte ") and damage.endswith("the recording was cut off")
    assert gpuprof(tmp_path, "correlate", "cut.gprec") == (
        1,
        "",
        f"gpuprof: cut.gprec: {damage}; cut.gpudb holds the launches before the damage\n",
    )
    for name in ("cut.gprec", "cut.gpudb"):
        code, out, error = gpuprof(tmp_path, "report", name)
        assert (code, error) == (0, "")
        assert "recording  NOT COMPLETE" in out and damage in out
    code, _, error = gpuprof(tmp_path, "check", "cut.gprec", "--baseline", "b.txt", "--update")
    assert (code, error) == (4, f"gpuprof: cut.gprec: the recording is not complete ({damage}); collect again\n")


def test_a_recording_that_is_damaged_before_anything_was_measured(good, tmp_path):
    data = (good / "kernels.gprec").read_bytes()
    write_files(tmp_path, {"flipped.gprec": changed(data, data.index(b"LNCH") + 12, b"#")})
    code, out, error = gpuprof(tmp_path, "report", "flipped.gprec")
    assert (code, out) == (4, "")
    assert re.fullmatch(
        r"gpuprof: nothing was measured: the file has no launches \(at byte \d+ a chunk's CRC is wrong\); collect "
        r"again\n",
        error,
    )


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_damaged_gpubins(good, tmp_path, share):
    data = (good / "kernels.gpubin").read_bytes()
    write_files(tmp_path, {"cut.gpubin": data[: int(share * len(data))]})
    for command in ("disasm", "collect"):
        before = snapshot(tmp_path)
        code, out, error = gpuprof(tmp_path, command, "cut.gpubin")
        assert (code, out, error.count("\n")) == (1, "", 1)
        assert error.startswith("gpuprof: cut.gpubin: cut off") and error.endswith("compile it again\n")
        assert snapshot(tmp_path) == before


def test_a_source_that_is_gone_at_report_time(good, tmp_path):
    """The recording carries the text: the report is the same without the source, in any folder."""
    shutil.copy(good / "kernels.gprec", tmp_path)
    there, here = (gpuprof(folder, "report", "kernels.gprec", "--page", "source") for folder in (good, tmp_path))
    assert there == here
    assert "__global__ void fine(float *x, int n)" in here[1]


# Nothing measured.


def test_no_samples_were_taken(folder):
    """The exact columns are shown; the exit code says that there is nothing to sample from."""
    code, _, error = gpuprof(folder, "collect", "kernels.cu", "--period", "2^20")
    assert (code, error) == (0, "")
    code, out, error = gpuprof(folder, "report", "kernels.gprec")
    assert code == 4 and "fine" in out
    assert error.startswith("gpuprof: no samples were taken: the longest launch ran ")
    assert error.endswith(
        "cycles, the sampling period is 1048576; collect with a shorter --period (the exact columns are complete)\n"
    )
    assert gpuprof(folder, "records", "kernels.gprec") == (
        4, "", "gpuprof: kernels.gprec: no samples in it: collect with a shorter --period, fewer events per "
            "--trigger, or a wider --filter\n"
    )  # fmt: skip


def test_check_without_a_baseline(good):
    error = "gpuprof: b.txt: there is no baseline yet; `gpuprof check ... --baseline b.txt --update` writes one\n"
    refused(good, 4, error, "check", "kernels.gprec", "--baseline", "b.txt")


# Places that cannot be written.


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs the device /dev/full")
@pytest.mark.parametrize("command", ["collect", "records", "report"])
def test_a_full_disk(good, command):
    """A recording and an output that do not fit; nothing is blamed on the user."""
    if command == "collect":
        arguments, what = ("kernels.cu", "-o", "/dev/stdout"), "/dev/stdout: cannot write the recording"
    else:
        arguments, what = ("kernels.gprec",), "cannot write the output"
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*PROGRAM, command, *arguments], cwd=good, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60
        )
    assert (done.returncode, done.stderr) == (1, f"gpuprof: {what}: No space left on device\n")


def test_a_folder_that_is_not_there(folder):
    refused(
        folder,
        2,
        f"gpuprof: no/x.gprec: there is no folder {folder / 'no'}\n",
        "collect",
        "kernels.cu",
        "-o",
        "no/x.gprec",
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("command", ["collect", "compile", "correlate"])
def test_a_folder_that_is_read_only(good, folder, command):
    shutil.copy(good / "kernels.gprec", folder)
    source = "kernels.gprec" if command == "correlate" else "kernels.cu"
    folder.chmod(0o500)
    try:
        code, _, error = gpuprof(folder, command, source)
    finally:
        folder.chmod(0o700)
    assert code == 1 and error.startswith("gpuprof: ") and error.endswith(f"the folder {folder} is not writable\n")


@pytest.mark.parametrize(
    "command, output", [("correlate kernels.gprec", ".gpudb"), ("sweep kernels.cu --chips a100,v100", ".sqlite")]
)
def test_a_database_that_the_system_refuses(good, folder, command, output):
    """Its own words are told, also to root."""
    shutil.copy(good / "kernels.gprec", folder)
    code, _, error = gpuprof(folder, *command.split(), "-o", (name := "x" * (256 - len(output)) + output))
    assert (code, error.splitlines()[-1]) == (1, f"gpuprof: {name}: cannot be written: File name too long")


# Interrupts and pipes.

LONG = """\
// LAUNCH: fine<<<2, 64>>>(x: i32[128])
// LAUNCH: slow<<<64, 256>>>(x)
__global__ void fine(int *x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
__global__ void slow(int *x)
{
    int s = 0;
    for (int i = 0; i < 100000; i++) s = s * 3 + x[(i + threadIdx.x) & 127];
    x[threadIdx.x & 127] = s;
}
"""


def test_an_interrupt_keeps_the_records_so_far(tmp_path):
    """Ctrl-C inside the second launch: the first one is whole, the second is marked."""
    write_files(tmp_path, {"long.cu": LONG})
    running = subprocess.Popen(
        [*PROGRAM, "collect", "long.cu", "--period", "32"], cwd=tmp_path, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    try:
        first = running.stdout.readline()
        time.sleep(0.3)
        running.send_signal(signal.SIGINT)
        _, error = running.communicate(timeout=30)
    finally:
        running.kill()
    assert first.startswith("fine<<<2, 64>>>  ")
    assert running.returncode == 130
    assert error.splitlines()[-1] == "gpuprof: interrupted"
    assert "gpuprof: the part before can be read: gpuprof report long.gprec" in error.splitlines()
    assert names(tmp_path) == ["long.cu", "long.gprec"]
    code, out, error = gpuprof(tmp_path, "records", "long.gprec")
    assert (code, error) == (0, "")
    assert out.startswith("launch=0 ")
    code, out, error = gpuprof(tmp_path, "report", "long.gprec", "--page", "summary")
    assert (code, error) == (0, "")
    assert (
        "# recording  NOT COMPLETE, it was cut off; the numbers cover the part before\n# note       interrupted\n"
        in out
    )
    assert "# fine\n" in out and "it did not finish" in out


@pytest.mark.parametrize(
    "arguments", ["records kernels.gprec", "report kernels.gprec", "disasm kernels.gpubin", "list stalls", "--help"]
)
def test_a_reader_that_goes_away(good, arguments):
    """`| head -1`: no complaint."""
    command = " ".join((*PROGRAM, arguments))
    done = subprocess.run(
        ["bash", "-c", f"{command} | head -1; exit ${{PIPESTATUS[0]}}"],
        cwd=good,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (0, "", 1)


def test_a_reader_that_goes_away_does_not_cost_the_recording(tmp_path):
    write_files(tmp_path, {"kernels.cu": KERNELS})
    command = f"{' '.join(PROGRAM)} collect kernels.cu | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "Error" not in done.stderr
    assert gpuprof(tmp_path, "report", "kernels.gprec")[0] == 0


# Scripts that go wrong.

RAISES = "import gpuprof\n\n\ndef work():\n    raise ValueError('no [bold]data[/bold]')\n\n\nwork()\n"


@pytest.mark.parametrize(
    "script, code, error",
    [
        (
            RAISES,
            1,
            'Traceback (most recent call last):\n  File "s.py", line 8, in <module>\n    work()\n  File "s.py", line '
            "5, in work\n"
            "    raise ValueError('no [bold]data[/bold]')\nValueError: no [bold]data[/bold]\ngpuprof: s.py: the script "
            "ended with ValueError\n",
        ),
        (
            "def f(:\n",
            1,
            '  File "s.py", line 1\n    def f(:\n          ^\nSyntaxError: invalid syntax\ngpuprof: s.py: the script '
            "ended with SyntaxError\n",
        ),
        ("import sys\nsys.exit(3)\n", 1, "gpuprof: s.py: the script ended with 3\n"),
        ("import sys\nsys.exit()\n", 4, "gpuprof: s.py: the script launched no kernel, so nothing was recorded\n"),
        ("", 4, "gpuprof: s.py: the script launched no kernel, so nothing was recorded\n"),
        ("import gpuprof\ngpuprof.Device().load('none.cu')\n", 2, "gpuprof: s.py:2: none.cu: there is no such file\n"),
        (
            "import gpuprof\n\nk = gpuprof.Device().load('kernels.cu')\nk.fine[1, 32](1)\n",
            2,
            "gpuprof: s.py:4: fine takes 2 parameters (float *, int) but 1 was given\n",
        ),
        (
            "import gpuprof\n\ngpu = gpuprof.Device()\ngpu.load('kernels.cu').asserted[1, 32](gpu.device_array(1, "
            "'int32'))\n",
            1,
            "gpuprof: s.py:4: asserted: kernels.cu:23, thread (0, 0, 0) of block (0, 0, 0): trap executed\n",
        ),
    ],
)
def test_scripts(folder, script, code, error):
    write_files(folder, {"s.py": script, "s.gprec": MAGIC + b"the previous recording"})
    refused(folder, code, error, "collect", "s.py")


# Text that is not what it seems.

ESCAPE = "\x1b[31m"


def test_escapes_and_markup_in_names_and_sources(tmp_path):
    """A file, a source line and a launch with terminal escapes and rich markup: shown in words, never obeyed."""
    name = f"[red]{ESCAPE}\x07k.cu"
    source = (
        f"// LAUNCH: k<<<1, 32>>>(i32[32])\n__global__ void k(int *x) {{ x[threadIdx.x] = 1; }} // "
        f"[blink]{ESCAPE}\x07\x9b2J[/blink]\n"
    )
    write_files(tmp_path, {name: source})
    recording = f"{name[:-3]}.gprec"
    told = [
        gpuprof(tmp_path, "collect", name),
        *(gpuprof(tmp_path, "report", recording, "--page", page) for page in ("summary", "source", "isa", "launches")),
    ]
    told += [
        gpuprof(tmp_path, *arguments)
        for arguments in (("correlate", recording), ("compile", name), ("disasm", name[:-3] + ".gpubin", "--source"))
    ]
    told += [
        gpuprof(tmp_path, "collect", f"{ESCAPE}none.cu"),
        gpuprof(tmp_path, "collect", name, "--launch", f"{ESCAPE}<<<1, 1>>>()"),
    ]
    assert [code for code, _, _ in told] == [0] * 8 + [2, 2]
    for _, out, error in told:
        assert not any(character in out + error for character in "\x1b\x07\x9b")
    assert "[blink]" in told[2][1] and "[/blink]" in told[2][1]


def test_a_source_that_is_not_utf8(tmp_path):
    write_files(
        tmp_path,
        {
            "latin.cu": b"// LAUNCH: k<<<1, 32>>>(i32[32])\n// \xe9t\xe9\n__global__ void k(int *x) { x[threadIdx.x] = "
            b"1; } // \xff\n"
        },
    )
    assert gpuprof(tmp_path, "collect", "latin.cu")[0] == 0
    code, out, error = process(tmp_path, "report", "latin.gprec", "--page", "source", PYTHONIOENCODING="ascii")
    assert (code, error) == (0, "")
    assert r"// \ufffd" in out


@pytest.mark.parametrize("encoding", long_from(1, ["ascii", "latin-1", "utf-16"]))
def test_an_output_that_is_not_utf8(good, encoding):
    for arguments in (
        ("report", "kernels.gprec"),
        ("list", "stalls"),
        ("explain", "wait"),
        ("--help",),
        ("records", "kernels.gprec"),
    ):
        code, _, error = process(good, *arguments, PYTHONIOENCODING=encoding)
        assert (code, error) == (0, ""), arguments


def test_paths_with_spaces(tmp_path):
    write_files(tmp_path, {"my code/a kernel.cu": KERNELS})
    assert gpuprof(tmp_path, "collect", "my code/a kernel.cu")[0] == 0
    code, out, error = gpuprof(tmp_path, "report", "a kernel.gprec", "--page", "source")
    assert (code, error) == (0, "")
    assert "# fine  my code/a kernel.cu:2" in out
