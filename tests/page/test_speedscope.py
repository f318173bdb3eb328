"""Speedscope's own page, in a browser, opens what we export for it."""

import base64

from tests.page.conftest import PATIENCE_MS
from tests.support.command import gpuprof
from tests.support.report_database import make_database
from tests.support.tools import node_module

BY_REASON = {
    "selected": "40,192",
    "wait": "15,552",
    "long_scoreboard": "60,000",
    "lg_throttle": "60,000",
    "drain": "8,976",
}


def test_speedscope_opens_the_export(browser, tmp_path):
    page_path = node_module("speedscope") / "dist" / "release" / "index.html"
    make_database(tmp_path / "t.gpudb")
    code, _, error = gpuprof(tmp_path, "export", "t.gpudb", "-o", "t.speedscope.json")
    assert code == 0, error
    coded = base64.b64encode((tmp_path / "t.speedscope.json").read_bytes()).decode()
    # What speedscope's own command writes for its page.
    (tmp_path / "t.js").write_text(f"speedscope.loadFileFromBase64('t.speedscope.json', '{coded}')")
    page = browser.new_page()
    errors = []
    page.on("pageerror", lambda found: errors.append(str(found)))
    page.goto(f"{page_path.as_uri()}#localProfilePath={tmp_path / 't.js'}")
    page.get_by_text("Sandwich").first.click(timeout=PATIENCE_MS)
    page.locator("tr", has=page.get_by_text("drain", exact=True)).wait_for(timeout=PATIENCE_MS)
    rows = [row.split() for row in page.locator("tr").all_inner_texts()]
    page.close()
    # Whole and own warp-cycles, each with its share, then the frame.
    found = {row[-1]: row[2] for row in rows if row[-1] in BY_REASON}
    assert (errors, found) == ([], BY_REASON)
