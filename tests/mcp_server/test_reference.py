"""docs/mcp.md has the tools of the table."""

from gpuprof.mcp_server.reference import TITLE, section
from tests.paths import DOCS


def test_the_page_has_every_tool():
    page = (DOCS / "mcp.md").read_text()
    assert page[page.index(TITLE) :] == section()
