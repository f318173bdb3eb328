"""What the README shows is what the commands print."""

import re

import pytest

from tests import readme
from tests.readme import ROOT


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("readme")
    readme.prepare(path)
    readme.run("gpuprof collect samples/saxpy.cu -o warm.gprec", path)  # the first run on a machine says that it compiles the model
    return path


@pytest.mark.parametrize("step", readme.all_steps(), ids=lambda step: step.command[:60])
def test_command(step, folder):
    if package := readme.missing(step.command):
        pytest.skip(f"needs {package}")
    printed = readme.run(step.command, folder)
    assert readme.matches(step.output, printed), f"write the README anew: python -m tests.readme\n{printed}"


def test_matching():
    assert readme.matches("a\n...\nb\n", "a\nx\ny\nb\n")
    assert readme.matches("a\n...\n", "a\n")
    assert not readme.matches("a\n...\nb\n", "a\nx\n")
    assert not readme.matches("a.\n", "ab\n")


def test_every_package_is_in_the_table():
    packages = {path.parent.name for path in (ROOT / "gpuprof").glob("*/__init__.py")}
    table = set(re.findall(r"^\| `(\w+)/`", readme.README.read_text(), re.MULTILINE))
    assert packages == table


@pytest.mark.parametrize("page", [readme.README, *sorted((ROOT / "docs").glob("*.md"))], ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    prose = re.sub(r"```.*?```|`[^`\n]*`|^    .*?$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", prose):
        assert (page.parent / target).exists(), target
