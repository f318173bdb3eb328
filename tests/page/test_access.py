"""Who may use the page, and what a profile may do in it: axe-core, keyboard, narrow windows, colours, hostile names."""

import pytest

from gpuprof.chips import load_chip
from gpuprof.report.html.reasons import PAINTS
from tests.support.measured_rows import add_measured
from tests.support.report_database import CU, KERNEL, make_database
from tests.support.tools import node_module

VIEWS = ["view=summary", "view=grid", f"view=source&kernel={KERNEL}", f"kernel={KERNEL}&panes=source,ptx,isa"]
VIEWS += ["view=timeline", "view=timeline&task=1", "view=machine"]
GRAVE = ("serious", "critical")
BAD = "<img src=x onerror=\"document.title='owned'\"></script><script>document.title='owned'</script>"


@pytest.fixture
def database(tmp_path):
    return add_measured(make_database(tmp_path / "t.gpudb", dropped=3))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("hash_", [*VIEWS, "view=compare"])
def test_axe_finds_nothing_serious(show, database, hash_, scheme):
    axe = (node_module("axe-core") / "axe.min.js").read_text()
    shown = show(*[database] * (2 if "compare" in hash_ else 1), hash_=hash_, color_scheme=scheme)
    shown.page.evaluate(axe)
    found = shown.page.evaluate("axe.run().then((result) => result.violations)")
    grave = [(each["id"], each["nodes"][0]["html"]) for each in found if each["impact"] in GRAVE]
    assert grave == []


@pytest.mark.parametrize("hash_", VIEWS)
def test_a_phone_scrolls_up_and_down_alone(show, database, hash_):
    shown = show(database, hash_=hash_, width=360, height=800)
    assert shown.page.evaluate("document.documentElement.scrollWidth") == 360


@pytest.mark.parametrize("hash_", ["view=summary", "view=source", "view=machine"])
def test_long_names_make_no_page_wider(show, tmp_path, hash_):
    path = make_database(
        tmp_path / "t.gpudb", kernel="transpose<" + "int, " * 60 + "int>", chip_words=load_chip("a100").describe()
    )
    shown = show(path, hash_=hash_, width=360, height=800)
    assert shown.page.evaluate("document.documentElement.scrollWidth") == 360


def test_a_phone_shows_names_beside_their_numbers(show, database):
    shown = show(database, width=360, height=800)
    for hash_, name in (
        ("view=summary", "td:nth-child(2)"),
        ("view=grid", "td:nth-child(1)"),
        ("view=grid", "td:nth-child(2)"),
    ):
        shown.at(hash_)
        box = shown.page.locator(f".table tbody tr >> nth=0 >> {name}").bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 360


def test_tab_reaches_what_can_be_pressed_and_a_frame_shows_it(show, database):
    shown = show(database)
    names, frames = [], set()
    for _ in range(8):
        shown.page.keyboard.press("Tab")
        names.append(shown.page.evaluate("document.activeElement.innerText"))
        frames.add(shown.page.evaluate("getComputedStyle(document.activeElement).outlineStyle"))
    tabs = ["Summary", "Grid", "Source", "Timeline", "Machine"]
    assert names == ["Skip to the view", *tabs, "Read the warnings", "Theme: auto"]
    assert frames == {"solid"}


def test_names_and_sources_stay_text(show, tmp_path):
    source = CU.replace("// Transposes", f"// {BAD}").replace("float value", f"/*{BAD}*/ float value")
    shown = show(make_database(tmp_path / "bad.gpudb", kernel=BAD, source=source))
    assert shown.texts("[aria-label=Kernels] tbody td:last-child") == [BAD]
    for hash_ in ("view=grid", "view=source"):
        shown.at(hash_)
        assert BAD in shown.page.inner_text("main")
    shown.at("view=source&kernel=" + "%3Cimg%20src%3Dx%3E&line=%3Cscript%3E:1")
    assert shown.page.title() == "Source - gpuprof"
    assert shown.page.locator("img").count() == 0
    assert shown.page.locator("script").count() == 1
    assert shown.errors == []


def test_a_script_that_came_in_would_not_run(show, database):
    shown = show(database)
    refused = """() => {
        const script = document.createElement("script");
        try { script.text = "document.title = 'owned'"; document.body.append(script); } catch (error) {}
        try { document.body.innerHTML = "<b>owned</b>"; return "written"; } catch (error) { return error.name; }
    }"""
    assert shown.page.evaluate(refused) == "TypeError"
    assert shown.page.title() == "Summary - gpuprof"


def test_the_page_prints_all_of_it(show, database):
    shown = show(database, hash_="view=source")
    shown.page.emulate_media(media="print")
    assert shown.page.locator("header nav").is_hidden()
    panes = [each.bounding_box() for each in shown.page.locator(".pane").all()]
    below = shown.page.locator(".below").bounding_box()
    tops, ends = ([box["y"] for box in (*panes, below)], [box["y"] + box["height"] for box in panes])
    assert all(end <= top for end, top in zip(ends, tops[1:], strict=True))
    last = shown.page.locator('.pane[aria-label="Instructions"] tbody tr').last.bounding_box()
    assert last["y"] + last["height"] <= ends[1] + 1  # nothing is cut off


# What dichromats see, in linear RGB: Machado, Oliveira and Fernandes 2009, severity 1.0.
DICHROMATS = {
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
LEAST_DIFFERENCE = 9  # CIE76; 2.3 is just noticeable


def linear(colour: str) -> list[float]:
    values = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    return [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values]


def lab(rgb: list[float]) -> tuple[float, float, float]:
    matrix = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    xyz = [sum(a * max(0.0, b) for a, b in zip(row, rgb, strict=True)) for row in matrix]
    f = [v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (xyz[0] / 0.9505, xyz[1], xyz[2] / 1.089)]
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


@pytest.mark.parametrize("sight", list(DICHROMATS))
def test_reasons_are_told_apart_without_all_hues(sight):
    """Two reasons with the same stripes differ in the colour that is left."""
    seen = {
        name: (
            paint.stripes,
            lab([sum(a * b for a, b in zip(row, linear(paint.colour), strict=True)) for row in DICHROMATS[sight]]),
        )
        for name, paint in PAINTS.items()
    }
    alike = [
        (one, other, round(sum((a - b) ** 2 for a, b in zip(seen[one][1], seen[other][1], strict=True)) ** 0.5, 1))
        for one in seen
        for other in seen
        if one < other and seen[one][0] == seen[other][0]
    ]
    assert [pair for pair in alike if pair[2] < LEAST_DIFFERENCE] == []
