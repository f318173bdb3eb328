"""Every word over a column has its meaning in one table, no head is cut, and what a narrow page leaves out it names."""

from contextlib import closing
from dataclasses import replace

import pytest

from gpuprof.chips.draw_units import SHADER_STAGES
from gpuprof.correlate.api_calls import ApiCall, read_api_calls
from gpuprof.correlate.checked_tables import FIXED_UNITS
from gpuprof.correlate.database import ensure_database
from gpuprof.report.pages import PAGES
from gpuprof.report.pages.heads import COLUMNS, FACTS
from gpuprof.report.pages.page_kind import Request, load
from gpuprof.report.pages.summary import kernel_facts, program_facts
from gpuprof.report.queries import read_report
from gpuprof.report.render import text_page
from gpuprof.report.tasks.draw_tasks import Draw, Draws, Group, Waves, Work
from gpuprof.report.tasks.program_time import read_program_time
from gpuprof.report.tasks.read_tasks import read_task_report
from gpuprof.report.terminal.columns import Layout
from gpuprof.report.terminal.styles import Look
from gpuprof.report.triage.kernel_rules import RULES
from gpuprof.tables.draws import DRAW_COUNT_NAMES
from tests.support.command import gpuprof
from tests.support.program_recording import write_program
from tests.support.report_database import make_database

WIDTHS = (40, 60, 80, 100, 120, 200, None)
LAUNCHES = """\
// LAUNCH: outer<<<2, 64>>>(out: f32[64])
// LAUNCH: column<<<8, (32, 8)>>>(out)
__device__ __noinline__ float twice(float x) { return 2 * x; }
__device__ float half_of(float x) { return x / 2; }
__global__ void outer(float *out) { out[threadIdx.x] = twice(half_of(threadIdx.x)); }
__global__ void column(float *out) {
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = threadIdx.x;
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += tile[threadIdx.x][threadIdx.y ^ k];
    out[threadIdx.x] = sum;
}
"""


CALLS = (
    ApiCall(0, "cudaMalloc", "app.cu", 7, 0, 2, 1_000, 21_000, 0, 0, ""),
    ApiCall(1, "cudaMemcpy", "app.cu", 9, 1, 0, 21_000, 36_000, 4_000, 1_000_000, "copy to device"),
)


COUNTS = dict.fromkeys(DRAW_COUNT_NAMES, 3) | {"quads": 40, "helpers": 20}
WORK = Work(
    100,
    300,
    COUNTS,
    256,
    {unit: 10.5 * (3 + place) for place, unit in enumerate(FIXED_UNITS)},
    dict.fromkeys(FIXED_UNITS, 0.5),
    {stage: Waves(3, 400, 3) for stage in SHADER_STAGES},
)
TIMELESS = Work(None, None, COUNTS, 256, {}, {}, {})
TWO = (
    Draw(0, None, 0, 1, "shadows", "teapot", (16, 16, 1), 0, False, {0: "vertex"}, WORK),
    Draw(1, None, 0, None, "", "floor", (16, 16, 1), 2, False, {1: "vertex"}, TIMELESS),
)
DRAWS = Draws(TWO, (Group(TWO, WORK),), (Group(TWO[:1], WORK),), unfinished=1)


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """The fixture of the pages; a recording of two kernels with stalls, causes, inlined code and conflicts; one of a
    program.
    """
    folder = tmp_path_factory.mktemp("heads")
    make_database(folder / "t.gpudb")
    (folder / "k.cu").write_text(LAUNCHES)
    code, _, error = gpuprof(folder, "collect", "k.cu", "--period", "32", "--trace", "intensity")
    assert code == 0, error
    found = []
    for name in ("t.gpudb", "k.gprec"):
        with closing(ensure_database(folder / name)) as db:
            found.append(replace(read_report(db), related=read_task_report(db, None, None), calls=CALLS, draws=DRAWS))
    write_program(folder / "p.gprec")
    with closing(ensure_database(folder / "p.gprec")) as db:
        related, calls = read_task_report(db, None, None), tuple(read_api_calls(db))
        found.append(replace(read_report(db), related=related, calls=calls, program=read_program_time(db)))
    return found


@pytest.fixture
def layouts(monkeypatch):
    """The layouts whose headings are printed, with the line of each."""
    seen: list[tuple[Layout, str]] = []
    heading = Layout.heading

    def noted(self):
        text = heading(self)
        seen.append((self, text.plain))
        return text

    monkeypatch.setattr(Layout, "heading", noted)
    return seen


@pytest.mark.parametrize("plain", [False, True], ids=["terminal", "pipe"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("page", PAGES)
def test_every_head_is_whole_and_in_the_table(reports, layouts, page, width, plain):
    for report in reports:
        for isa in {False, "--isa" in PAGES[page].flags}:
            lines = [line.plain for line in text_page(report, Look(width, "", True, plain), Request(page, isa=isa))]
            assert width is None or max(map(len, lines)) <= width
    assert layouts or page in ("blame", "timeline")
    for layout, line in layouts:
        assert {column.called for column in layout.columns} <= {head.name for head in COLUMNS if page in head.pages}
        assert line.split() == " ".join(column.title for column in layout.columns).split()  # none is cut


@pytest.mark.parametrize("page", PAGES)
def test_a_narrow_page_names_what_it_leaves_out(reports, layouts, page):
    for width in (40, 60, 80):
        for report in reports:
            lines = [line.plain.strip() for line in text_page(report, Look(width, "", True, False), Request(page))]
            told = " ".join(lines)
            for layout, _ in layouts:
                if layout.left_out:
                    names = ", ".join(column.called for column in layout.left_out)
                    how = f"a wider terminal, --width {layout.whole_width} or --format csv"
                    assert f"left out at {width} columns: {names} ({how})" in told
                    assert layout.whole_width > width
            layouts.clear()


@pytest.mark.parametrize("page", PAGES)
def test_the_width_that_is_named_is_enough_and_none_less_is(reports, layouts, page):
    report = reports[1]
    list(text_page(report, Look(40, "", True, False), Request(page)))
    needed = max((layout.whole_width for layout, _ in layouts if layout.left_out), default=None)
    if needed is None:
        return
    for width, is_enough in ((needed, True), (needed - 1, False)):
        layouts.clear()
        list(text_page(report, Look(width, "", True, False), Request(page)))
        assert any(layout.left_out for layout, _ in layouts) is not is_enough


def test_every_row_of_the_table_is_a_pages(reports):
    commands = {"quality", "sweep"}
    assert {page for head in (*COLUMNS, *FACTS) for page in head.pages} <= {*PAGES, *commands}
    assert len({(head.name, page) for head in COLUMNS for page in head.pages}) == sum(len(h.pages) for h in COLUMNS)


def test_every_fact_of_the_summary_is_in_the_table(reports):
    """The chip of the fixture has no peaks, and a kernel without lines has no hottest one."""
    of_programs = {"took", "worked", "idle", "moved"}
    names, not_always = {head.name for head in FACTS} - of_programs, ({"throughput", "limits", "hottest"}, {"hottest"})
    assert {label for label, _ in program_facts(reports[-1].program)} == of_programs
    for report, may_lack in zip(reports, not_always, strict=False):
        for kernel in report.kernels:
            labels = {label for label, _ in kernel_facts(kernel, report, Look(80, "", True, False)) if label}
            assert labels <= names and names - labels <= may_lack


def test_the_summary_ends_its_hottest_lines_before_their_lengths(reports):
    for report in reports:
        lines = [line.plain for line in load("summary").text(report, Look(120, "", True, False), Request("summary"))]
        for kernel in report.kernels:
            labels = [label for label, parts in kernel_facts(kernel, report, Look(120, "", True, True)) if parts]
            assert labels.count("hottest") >= 1
            last = len(labels) - 1 - labels[::-1].index("hottest")
            assert "lengths" not in labels[:last], lines


EXPLAINED = [
    *((head.name, head.text) for head in (*COLUMNS, *FACTS)),
    *((rule.name, rule.text) for rule in RULES),
    *((name, f"It shows {entry.text}.") for name, entry in PAGES.items()),
]


@pytest.mark.parametrize("name, text", EXPLAINED)
def test_explain_knows_it(tmp_path, name, text):
    code, out, error = gpuprof(tmp_path, "explain", name)
    assert (code, error) == (0, "")
    assert " ".join(text.split()) in " ".join(out.split())


def test_explain_shows_all_that_a_word_is(tmp_path):
    assert gpuprof(tmp_path, "explain", "Due") == (
        0,
        "due  (a column of launches)\n\nwhat it is  Samples that should have been taken: recorded and dropped ones.\n",
        "",
    )
    _, out, _ = gpuprof(tmp_path, "explain", "occupancy")
    assert [line.split("  ")[1] for line in out.splitlines() if line.startswith("occupancy")] == [
        "(a column of launches)",
        "(a fact of summary)",
        "(a finding)",
    ]


def test_explain_suggests_what_is_near(tmp_path):
    assert gpuprof(tmp_path, "explain", "conflcts") == (
        2,
        "",
        "gpuprof: unknown word 'conflcts'; did you mean conflicts or bank_conflicts?\n",
    )
