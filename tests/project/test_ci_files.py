"""The files of docs/ci: each by its consumer's schema, and its shell steps in a clone of the sample project."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.paths import DOCS, ROOT
from tests.project.planted_history import ENVIRONMENT
from tests.support import tools

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")

CI = DOCS / "ci"
SAMPLE = ROOT / "samples" / "project"
SCHEMAS = {"action.yml": "vendor.github-actions", "github.yml": "vendor.github-workflows",
           "gitlab.yml": "vendor.gitlab-ci"}  # fmt: skip
INSTALLED = "click"  # in place of gpuprof, which a test cannot get from the network: pip finds that it is there
# `python -m venv FOLDER` in a clone gives it the environment that the tests run in.
PYTHON = """\
#!/bin/sh
if [ "$1 $2" = "-m venv" ]; then exec ln -sfn "{venv}" "$3"; fi
exec "{python}" "$@"
"""


@pytest.mark.parametrize("name, schema", SCHEMAS.items(), ids=SCHEMAS)
def test_a_file_is_what_its_consumer_takes(name, schema):
    tools.module("check_jsonschema", "tools-python")
    tools.output(sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, CI / name)


def test_the_sample_project_uses_them():
    copies = {".github/workflows/kernels.yml": "github.yml", ".github/actions/gpuprof/action.yml": "action.yml"}
    for copy, name in copies.items():
        assert (SAMPLE / copy).read_bytes() == (CI / name).read_bytes(), name


class Step(NamedTuple):
    """A shell step, and the variables that it gets."""

    script: str
    variables: dict[str, str]


def steps_of_action(arguments: str) -> list[Step]:
    """As GitHub runs a composite action: `${{ inputs.NAME }}` are its inputs."""
    inputs = {"gpuprof": INSTALLED, "arguments": arguments}

    def filled(text: str) -> str:
        return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: inputs[match[1]], text)

    action: dict[str, Any] = yaml.safe_load((CI / "action.yml").read_text())
    steps = [step for step in action["runs"]["steps"] if "run" in step]
    assert all(step["shell"] == "bash" for step in steps)
    return [Step(step["run"], {name: filled(value) for name, value in step.get("env", {}).items()}) for step in steps]


def steps_of_gitlab() -> list[Step]:
    job = yaml.safe_load((CI / "gitlab.yml").read_text())["kernels"]
    own = {name: value for name, value in job["variables"].items() if "CI_PROJECT_DIR" not in value}
    return [Step("\n".join(job["script"]), own | {"GPUPROF": INSTALLED})]


def steps_of_jenkins() -> list[Step]:
    return [
        Step(script, {"GPUPROF": INSTALLED}) for script in re.findall(r"sh '(.*)'", (CI / "Jenkinsfile").read_text())
    ]


def run_steps(steps: list[Step], folder: Path, **variables: str) -> tuple[int, str]:
    """The exit code of the first step that fails, as a runner has it, and all that is printed."""
    shims = folder.parent / "shims"
    shims.mkdir(exist_ok=True)
    environment_folder = Path(sys.executable).parents[1]
    for name in ("python3", "python"):
        (shims / name).write_text(PYTHON.format(venv=environment_folder, python=sys.executable))
        (shims / name).chmod(0o755)
    path = f"{shims}:{environment_folder / 'bin'}:{os.environ['PATH']}"
    printed = ""
    for step in steps:
        environment = os.environ | ENVIRONMENT | variables | step.variables | {"PATH": path, "PYTHONPATH": str(ROOT)}
        environment.pop("NUMBA_CACHE_DIR", None)
        script = step.script.replace("export NUMBA_CACHE_DIR", ": ")  # the tests' own compiled code is nearer
        done = subprocess.run(["bash", "-eo", "pipefail", "-c", script], cwd=folder, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
        printed += done.stdout
        if done.returncode:
            return done.returncode, printed
    return 0, printed


@pytest.fixture
def clone(tmp_path) -> Path:
    origin, clone = tmp_path / "origin", tmp_path / "a clone"
    shutil.copytree(SAMPLE, origin)
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "first"]):
        subprocess.run(["git", "-C", origin, *words], check=True, env=ENVIRONMENT)
    subprocess.run(["git", "clone", "-q", f"file://{origin}", clone], check=True, env=ENVIRONMENT)
    return clone


def slower(clone: Path) -> None:
    kernel = clone / "kernels" / "transpose.cu"
    kernel.write_text(kernel.read_text().replace("PAD = 1", "PAD = 0"))
    subprocess.run(["git", "-C", clone, "commit", "-q", "-a", "-m", "Save shared memory"], check=True, env=ENVIRONMENT)


ALL = {
    "github": (lambda: steps_of_action(""), ["benchmark.json", "check.md", "check.sarif"]),
    "github against": (lambda: steps_of_action("--against HEAD^1"), ["benchmark.json", "check.md", "check.sarif"]),
    "gitlab": (steps_of_gitlab, ["junit.xml", "quality.json"]),
    "jenkins": (steps_of_jenkins, ["junit.xml"]),
}


@pytest.mark.long
@pytest.mark.parametrize("steps, files", ALL.values(), ids=ALL)
def test_steps_pass_and_fail_as_the_project_does(clone, tmp_path, steps, files):
    subprocess.run(["git", "-C", clone, "commit", "-q", "--allow-empty", "-m", "second"], check=True, env=ENVIRONMENT)
    github = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_WORKSPACE": str(clone),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
    }
    variables = github if files[0] == "benchmark.json" else {}
    code, printed = run_steps(steps(), clone, **variables)
    assert code == 0, printed
    assert "3 entries: 3 passed" in printed
    slower(clone)
    code, printed = run_steps(steps(), clone, **variables)
    assert code == 3, printed
    assert "kernels/transpose.cu:19" in printed
    assert sorted(path.name for path in (clone / "gpuprof-results").iterdir()) == files
    if variables:
        assert "::error file=kernels/transpose.cu,line=19" in printed
        assert "kernels/transpose.cu:19" in (tmp_path / "summary").read_text()
