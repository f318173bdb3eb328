"""A run that is confined to a folder: the files that it reads, and the host code that it does not run."""

from pathlib import Path

import pytest

from gpuprof.base.confinement import check_inside, check_runs_programs, confined
from gpuprof.base.inputs import ARRAY, HEADER, SOURCE, read_input_text
from gpuprof.chips import load_chip
from gpuprof.errors import UsageError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a file, a link to it, and a link that leaves it; a run is confined to it, and works in it."""
    (tmp_path / "secret.h").write_text("secret")
    (tmp_path / "folder-too").mkdir()
    folder = tmp_path / "folder"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "a.h").write_text("a")
    (folder / "link.h").symlink_to("sub/a.h")
    (folder / "out.h").symlink_to("../secret.h")
    (folder / "up").symlink_to("..")
    monkeypatch.chdir(folder)
    for name, value in confined(folder, allows_programs=False).items():
        monkeypatch.setenv(name, value)
    return folder


def test_the_variables_of_a_confined_run():
    assert confined(Path("/f"), False) == {"GPUPROF_FOLDER": "/f", "GPUPROF_PROGRAMS": "off"}
    assert confined(Path("/f"), True) == {"GPUPROF_FOLDER": "/f"}


@pytest.mark.parametrize("name", ["sub/a.h", "link.h", "../folder/sub/a.h", "up/folder/link.h", "none.h"])
def test_inside(folder, name):
    check_inside(name)
    check_inside(folder / name)


@pytest.mark.parametrize("name", ["../secret.h", "out.h", "up/secret.h", "/etc/passwd", "..", "../folder-too"])
def test_outside(folder, name):
    with pytest.raises(UsageError) as caught:
        check_inside(name)
    assert str(caught.value) == f"{name}: is outside of {folder}, and GPUPROF_FOLDER allows only files in it"


def test_files_that_sources_and_launches_name_are_looked_at_and_those_of_the_command_line_are_not(folder):
    assert [read_input_text("link.h", kind) for kind in (HEADER, ARRAY)] == ["a", "a"]
    assert read_input_text("out.h", SOURCE) == "secret"
    for kind in (HEADER, ARRAY):
        with pytest.raises(UsageError, match=r"^out\.h: is outside of "):
            read_input_text("out.h", kind)


def test_a_chip_file_inherits_from_files_of_the_folder(folder):
    for name, base in {"own": "h100", "near": "own.toml", "far": "../secret.toml", "../secret": "h100"}.items():
        (folder / f"{name}.toml").write_text(f'inherits = "{base}"\n')
    assert load_chip("near.toml").sms == load_chip("h100").sms
    with pytest.raises(UsageError, match=r"^\.\./secret\.toml: is outside of "):
        load_chip("far.toml")


def test_without_a_folder_any_file_is_read(folder, monkeypatch):
    monkeypatch.delenv("GPUPROF_FOLDER")
    assert read_input_text("out.h", HEADER) == "secret"


def test_programs_are_off(folder, monkeypatch):
    with pytest.raises(UsageError) as caught:
        check_runs_programs(Path("a.py"), "a script")
    assert str(caught.value) == (
        "a.py: is a script, whose host code would run on this machine, and GPUPROF_PROGRAMS=off allows only kernels "
        "with launches; give a launch, or start `gpuprof mcp` with --allow-programs"
    )
    monkeypatch.delenv("GPUPROF_PROGRAMS")
    check_runs_programs(Path("a.py"), "a script")
