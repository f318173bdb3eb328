"""Names and values that newcomers ask for: bfloat16, enumerators, shared memory without a size, `print x = 7`."""

import pytest

from gpuprof.debug.commands.command_table import run_line
from gpuprof.debug.debug_sections import read_sections
from gpuprof.debug.debugger import FOR_DEBUGGER, Debugger
from gpuprof.errors import DebugError
from gpuprof.run.compile_file import BuildOptions

SOURCE = """// LAUNCH: names<<<1, 32, 128>>>(o: u32[32])
#include <cuda_bf16.h>
enum Color { RED, GREEN = 5, BLUE };
enum class Mode : unsigned char { OFF, ON = 200 };
__global__ void names(unsigned *o) {
    extern __shared__ unsigned words[];
    unsigned t = threadIdx.x;
    Color color = t == 3 ? BLUE : GREEN;
    Mode mode = t & 1 ? Mode::ON : Mode::OFF;
    unsigned char byte = 200;
    __nv_bfloat16 brain = __float2bfloat16(1.0f + t);
    words[t] = t * 3;
    o[t] = words[31 - t] + color + (unsigned)mode + byte + (unsigned)__bfloat162float(brain);
}
"""
LINE = "names.cu:13"
SAID = [
    ("print brain", "$1 = {gpuprof_raw = 4}"),
    ("print brain.gpuprof_raw / 8", "$2 = 0.5"),
    ("print/f brain.gpuprof_raw", "$3 = 4"),
    ("print/x brain.gpuprof_raw", "$4 = 0x4080"),
    ("print color", "$5 = BLUE"),
    ("print color == BLUE && mode == Mode::ON", "$6 = true"),
    ("print Color::GREEN", "$7 = GREEN"),
    ("print (Color)5", "$8 = GREEN"),
    ("print/c byte", "$9 = 200 '\\310'"),
    ("print t = 9", "$10 = 9"),
    ("print t", "$11 = 9"),
    ("print t == 9", "$12 = true"),
    ("print *(@shared unsigned *)0x0@4", "$13 = {0, 3, 6, 9}"),
]


@pytest.fixture
def file(tmp_path):
    (tmp_path / "names.cu").write_text(SOURCE)
    return tmp_path / "names.cu"


def test_what_is_printed(file):
    with Debugger(file) as debugger:
        debugger.break_at(LINE, condition="color == BLUE")
        debugger.run()
        assert [(line, *run_line(debugger, line)) for line, _ in SAID] == SAID
        debugger.assign("brain.gpuprof_raw = 1.2")
        assert debugger.evaluate("brain.gpuprof_raw").number == 1.203125  # the nearest with 8 bits
        with pytest.raises(DebugError, match="'t brain': 'brain' is unexpected"):
            list(run_line(debugger, "info cuda lanes t brain"))


@pytest.mark.parametrize(
    "level, hint",
    [(0, ", as in `print *(@shared float *)0x0@4`"), pytest.param(3, "", marks=pytest.mark.long)],
)
def test_dynamic_shared_memory_has_no_type(file, level, hint):
    options = FOR_DEBUGGER if not level else BuildOptions(optimize=level, for_debugger=True)
    with Debugger(file, options=options) as debugger:
        debugger.break_at(LINE)
        debugger.run()
        with pytest.raises(DebugError) as error:
            debugger.evaluate("words[3]")
        assert str(error.value) == f"words is dynamic shared memory, whose type is unknown: give one{hint}"


def test_going_back_stops_at_launches_where_going_on_does(file):
    with Debugger(file, launches=["names<<<1, 32, 128>>>(o: u32[32])", "names<<<1, 32, 128>>>(o)"]) as debugger:
        debugger.breaks_on_launch = True
        stops = [debugger.run(), debugger.cont(), debugger.step("stepi", 3)]
        stops += [debugger.reverse_step("stepi"), debugger.reverse_continue(), debugger.reverse_continue()]
        assert [(stop.reason, stop.launch, stop.event) for stop in stops] == [
            ("launch", 0, 0),
            ("launch", 1, 0),
            ("step", 1, 3),
            ("step", 1, 2),
            ("launch", 1, 0),
            ("launch", 0, 0),
        ]


def test_numbers_of_debug_sections_may_have_comments():
    """As Triton writes them: what a number is stands behind it."""
    ptx = ".section\t.debug_abbrev\n{\n.b8 1                // Abbreviation Code\n.b8 17,2             // DW_TAG\n}\n"
    assert read_sections(ptx).data == {".debug_abbrev": bytes([1, 17, 2])}
