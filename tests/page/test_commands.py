"""`gpuprof report --html` and `gpuprof view`: what they write and serve, and what they refuse."""

import os
import signal
import subprocess
import sys
import time
from html import unescape
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from tests.page.reading import read, tables_of
from tests.support.command import gpuprof
from tests.support.report_database import make_database


@pytest.fixture
def folder(tmp_path):
    make_database(tmp_path / "t.gpudb")
    return tmp_path


def test_the_page_is_written_and_nothing_is_printed(folder):
    assert gpuprof(folder, "report", "t.gpudb", "--html", "t.html") == (0, "", "")
    kernels = read(folder / "t.html")["kernels"]
    assert [(kernel["name"], kernel["cycles"], kernel["launches"]) for kernel in kernels] == [
        ("transpose_naive", 10_000, 2)
    ]
    first = (folder / "t.html").read_bytes()
    assert gpuprof(folder, "report", "t.gpudb", "--format", "html", "-o", "t.html") == (0, "", "")
    assert (folder / "t.html").read_bytes() == first
    assert gpuprof(folder, "report", "t.gpudb", "--format", "html")[1].encode() == first


def test_one_launch_and_other_words(folder):
    assert gpuprof(folder, "report", "t.gpudb", "--html", "t.html", "--launch", "1", "--vocabulary", "cupti")[0] == 0
    tables = read(folder / "t.html")
    assert [launch["launch"] for launch in tables["launches"]] == [1]
    assert tables["runs"] == [{"stream": 0, "task": "", "kernel": 0, "launches": 1, "cycles": 5_000}]
    assert [term["name"] for term in tables["terms"]][:4] == [
        "NONE",
        "NOT_SELECTED",
        "EXEC_DEPENDENCY",
        "MEMORY_DEPENDENCY",
    ]
    assert sum(cell["cycles"] for cell in tables["cells"]) == sum(cost["cycles"] for cost in tables["costs"]) == 92_360


@pytest.mark.parametrize(
    "flags, message",
    [
        (("--html", "a.html", "-o", "b.html"), "--html and -o both name the page: give one"),
        (("--html", "a.html", "--format", "csv"), "--html and --format csv exclude each other: give one"),
        (("-o", "a.html"), "-o names the file of a page: give --format html, or let the shell write what is printed"),
        (
            ("--html", "a.html", "--page", "stalls"),
            "--page goes with text, csv and json; leave it out: the page for a browser has every view",
        ),
        (
            ("--html", "a.html", "--attribution", "ncu"),
            "--attribution ncu: a page shows stalls at the instruction that waits",
        ),
    ],
)
def test_what_does_not_go_together(folder, flags, message):
    assert gpuprof(folder, "report", "t.gpudb", *flags) == (2, "", f"gpuprof: {message}\n")
    assert not (folder / "a.html").exists()


def ask(url: str, path: str = "", host: str = "") -> tuple[int, bytes]:
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname, parts.port, timeout=30)
    connection.request("GET", path or parts.path, headers={"Host": host or parts.netloc})
    answer = connection.getresponse()
    return answer.status, answer.read()


def test_the_page_is_served_to_this_machine_alone(folder):
    command = [sys.executable, "-m", "gpuprof", "view", "t.gpudb", "--no-browser"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, env=os.environ | {"PYTHONUNBUFFERED": "1"})
    try:
        url = process.stdout.readline().decode().split()[0]
        status, page = ask(url)
        assert status == 200
        assert tables_of(page.decode())["kernels"][0]["name"] == "transpose_naive"
        assert ask(url, path="/")[0] == 404
        assert ask(url, host="example.com")[0] == 403
        assert urlsplit(url).hostname == "127.0.0.1"
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130


def test_a_browser_in_a_terminal_gets_the_page(folder):
    """`webbrowser` waits for one until it is left."""
    reader = "import sys; from urllib.request import urlopen; open('got', 'wb').write(urlopen(sys.argv[1]).read())"
    (folder / "reader.py").write_text(reader)
    browser = f"{sys.executable} {folder / 'reader.py'} %s"
    command = [sys.executable, "-m", "gpuprof", "view", "t.gpudb"]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, env=os.environ | {"BROWSER": browser}
    ) as process:
        try:
            until = time.monotonic() + 30
            while not (folder / "got").exists() or not (folder / "got").read_bytes().endswith(b"</html>\n"):
                assert time.monotonic() < until, "the browser got no page"
                time.sleep(0.05)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=30)
    assert tables_of((folder / "got").read_text())["kernels"][0]["name"] == "transpose_naive"


def test_a_browser_that_goes_early_is_no_error(capfd):
    from gpuprof.report.html.serve import Server

    def gone() -> None:
        raise BrokenPipeError

    with Server(b"", 0) as server:
        for what, said in ((gone, False), (lambda: 1 // 0, True)):
            try:
                what()
            except Exception:
                server.handle_error(None, ("127.0.0.1", 1))
            assert bool(capfd.readouterr().err) == said


def test_a_port_that_is_taken_is_refused(folder):
    from gpuprof.report.html.serve import Server

    with Server(b"", 0) as server:
        code, _, error = gpuprof(folder, "view", "t.gpudb", "--no-browser", "--port", str(server.server_port))
    assert (code, error) == (
        2,
        f"gpuprof: --port {server.server_port}: cannot be served at: Address already in use\n",
    )


def test_a_recording_in_a_notebook_is_a_frame_of_its_own(folder):
    import gpuprof as package

    shown = package.Recording(folder / "t.gpudb")._repr_html_()
    assert shown.startswith('<iframe sandbox="allow-scripts" ') and shown.endswith('"></iframe>')
    inside = shown.partition('srcdoc="')[2].removesuffix('"></iframe>')
    assert '"' not in inside and "<" not in inside
    assert tables_of(unescape(inside))["kernels"][0]["name"] == "transpose_naive"


def test_a_notebook_shows_it(browser, folder):
    import gpuprof as package

    page = browser.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.set_content(package.Recording(folder / "t.gpudb")._repr_html_())
    frame = page.frame_locator("iframe")
    frame.get_by_role("link", name="Source", exact=True).click()
    frame.locator('.pane[aria-label="Source"] tr', has_text="float value").click()
    assert frame.locator('.pane[aria-label="Source"] tr[aria-selected="true"] td >> nth=1').inner_text() == "13"
    assert errors == []
    page.close()
