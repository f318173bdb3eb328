"""Programs with Thrust, CUB and libcu++, where `gpuprof[cccl]` or `gpuprof[cccl12]` is installed."""

import subprocess
import sys
from pathlib import Path

import pytest

from gpuprof.compile import cccl
from gpuprof.compile.cccl import HINT, RELEASES, Release, hint_for
from gpuprof.errors import UsageError
from tests.program.hosts import WHY_NOT

FOLDER = Path(__file__).parent / "cccl"
NAMES = sorted(path.stem for path in FOLDER.glob("*.cu"))


@pytest.mark.long
@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("name", NAMES)
def test_a_program_passes_its_own_check(name, release):
    try:
        cccl.find(release)
    except UsageError as error:
        pytest.skip(str(error))
    command = [sys.executable, "-m", "gpuprof", "run", f"{name}.cu", "--cccl", release]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=900)
    assert (done.stdout, done.returncode) == ("PASS\n", 0), done.stderr


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Gives the function that installs releases in place of this machine's."""

    def install(*names: str) -> None:
        for name, release in RELEASES.items():
            monkeypatch.setitem(RELEASES, name, Release(f"nobodys-{release.package}", release.folder, release.extra))
        for name in names:
            release = RELEASES[name]
            record = tmp_path / f"{release.package.replace('-', '_')}-{name}.1.dist-info"
            record.mkdir()
            (record / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {release.package}\nVersion: {name}.1\n")
            (tmp_path / release.folder).mkdir(parents=True)

    monkeypatch.syspath_prepend(str(tmp_path))
    return install


def test_the_newest_release_is_taken_where_none_is_named(installed, tmp_path):
    installed("12", "13")
    assert cccl.find() == (tmp_path / "nvidia/cu13/include/cccl", "nobodys-nvidia-cuda-cccl 13.1")
    assert cccl.find("12") == (tmp_path / "nvidia/cuda_cccl/include", "nobodys-nvidia-cuda-cccl-cu12 12.1")


REFUSED = {
    "13": "--cccl 13: it is not installed: run `pip install 'gpuprof[cccl]'`",
    "11": "--cccl 11: there are 12 and 13",
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_release_that_cannot_be_had_is_named(installed, name):
    installed("12")
    assert cccl.find().identity == "nobodys-nvidia-cuda-cccl-cu12 12.1"
    with pytest.raises(UsageError) as caught:
        cccl.find(name)
    assert str(caught.value) == REFUSED[name]


@pytest.mark.parametrize("header", ["cub/cub.cuh", "thrust/sort.h", "cuda/std/array", "nv/target"])
def test_what_is_not_installed_is_named(installed, header):
    installed()
    assert hint_for(f"a.cu:1:10: fatal error: '{header}' file not found") == f"\n{HINT}"


def test_other_headers_are_no_matter_of_it(installed):
    installed()
    assert hint_for("a.cu:1:10: fatal error: 'cublas_v2.h' file not found") == ""


def test_installed_headers_are_not_named_again(installed):
    installed("12")
    assert hint_for("a.cu:1:10: fatal error: 'cub/other.cuh' file not found") == ""
