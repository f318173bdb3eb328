"""Results on the command line: a wrong kernel fails its run, and whatever is made of its recording says so.

`twice` doubles its first n elements; with n = 62 of 64 the last two stay zero, which is wrong.
"""

import json

import numpy as np
import pytest

from gpuprof.records.reader import read_recording
from tests.fuzz.gprec_fuzz import chunks_of
from tests.support.command import gpuprof, masked, names, write_files

KERNEL = """\
__global__ void twice(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * in[i];
}
"""
RIGHT = "twice<<<2, 32>>>(x: f32[64]=arange, y: f32[64], 64)"
WRONG = "twice<<<2, 32>>>(x: f32[64]=arange, y: f32[64], 62)"
AGREES = "y == ref.npy: all 64 elements as expected (rtol 1e-05, atol 0)"
DIFFERS = (
    "y == ref.npy: 2 of 64 elements differ, first [62]: got 0.0, expected 124.0; largest error 126 absolute, 1 "
    "relative (rtol 1e-05, atol 0)"
)
LAUNCHED = "twice<<<2, 32>>>  N cycles  N warp instructions  N samples\n"
COUNTED = "N samples of 1 launch -> k.gprec\n"


@pytest.fixture
def folder(tmp_path):
    write_files(tmp_path, {"k.cu": KERNEL})
    np.save(tmp_path / "ref.npy", 2 * np.arange(64, dtype=np.float32))
    return tmp_path


def collect(folder, *arguments: str) -> tuple[int, str, str]:
    code, out, error = gpuprof(folder, "collect", "k.cu", *arguments)
    return code, masked(out), error


# Results are copied out, and copies are tasks.
ASIDE = (b"RSLT", b"META", b"NAME", b"PARM", b"TASK", b"RELA", b"ACCS", b"CNST", b"CALL")


def without_results(recording) -> list[tuple[bytes, bytes]]:
    """The chunks of a recording, its results, tasks and the command line aside."""
    return [chunk for chunk in chunks_of(recording.read_bytes()) if chunk[0] not in ASIDE]


def test_a_right_result(folder):
    asked = collect(folder, "--launch", RIGHT, "--expect", "y=ref.npy", "--expect", "twice#1.x=arange")
    agrees = f"{AGREES.replace('y == ref.npy', 'twice#1.x == arange')}\n{AGREES}\n"
    assert asked == (0, f"{LAUNCHED}{agrees}{COUNTED}", "")
    lines = gpuprof(folder, "report", "k.gprec")[1].splitlines()
    assert "# results    2 arrays compared, all as expected" in lines
    assert collect(folder, "--launch", RIGHT, "-o", "plain.gprec")[0] == 0
    assert without_results(folder / "k.gprec") == without_results(folder / "plain.gprec")
    assert "results" not in gpuprof(folder, "report", "plain.gprec")[1]


def test_a_wrong_result_fails_the_run(folder):
    assert collect(folder, "--launch", WRONG, "--expect", "y=ref.npy", "--save", "y=y.npy") == (
        1,
        f"{LAUNCHED}{COUNTED}",
        f"gpuprof: results differ: 1 of 1 compared array\n    {DIFFERS}\nk.gprec is written and says so\n",
    )
    assert np.load(folder / "y.npy").tolist() == [*range(0, 124, 2), 0, 0]
    recording = read_recording(folder / "k.gprec")
    assert recording.complete and [str(result) for result in recording.results] == [DIFFERS]
    assert recording.meta["command"].endswith(" --period 256 --expect y=ref.npy")
    code, out, _ = gpuprof(folder, "report", "k.gprec")
    assert code == 0 and f"# results    WRONG in 1 of 1 array, {DIFFERS}" in out.splitlines()
    (result,) = json.loads(gpuprof(folder, "report", "k.gprec", "--format", "json")[1])["header"]["results"]
    assert result == recording.results[0]._asdict()
    for flags in ([], ["--update"]):
        code, out, _ = gpuprof(folder, "check", "k.gprec", "--baseline", "b.toml", *flags)
        assert (code, out) == (1, f"wrong      {DIFFERS}\n")
    assert "b.toml" not in names(folder)


def test_comments_compare_from_the_sources_folder(tmp_path):
    comments = f"// LAUNCH: {WRONG}; x == arange\n// LAUNCH: y == ref.npy, atol=200\n// LAUNCH: y == ref.npy;\n"
    write_files(tmp_path, {"sub/k.cu": comments + KERNEL})
    np.save(tmp_path / "sub/ref.npy", 2 * np.arange(64, dtype=np.float32))
    code, out, error = gpuprof(tmp_path, "collect", "sub/k.cu")
    agree = [AGREES.replace("y == ref.npy", "x == arange"), AGREES.replace("atol 0", "atol 200")]
    assert (code, masked(out).splitlines()[1:3]) == (1, agree)
    assert error.splitlines()[1] == f"    {DIFFERS}"
    assert names(tmp_path) == ["k.gprec", "sub", "sub/k.cu", "sub/ref.npy"]


def test_a_comparison_stands_after_a_launch(folder):
    write_files(folder, {"k.cu": f"// LAUNCH: y == ref.npy\n// LAUNCH: {RIGHT}\n{KERNEL}"})
    message = "k.cu:1: a comparison must follow the launch whose result it is about\n    y == ref.npy\n"
    assert collect(folder) == (2, "", f"gpuprof: {message}")


def test_launches_in_flight_run_together_all_the_same(folder):
    """They are timed as one batch, and a comparison in between would wait for the first."""
    launches = [
        "twice<<<2, 32, 0, 1>>>(x: f32[64]=arange, y: f32[64], 64)",
        "twice<<<2, 32, 0, 2>>>(x, z: f32[64], 64)",
        "twice<<<2, 32>>>(y, w: f32[64], 64)",
    ]
    plain = [word for launch in launches for word in ("--launch", launch)]
    asked = [*plain, "--expect", "twice#1.y=ref.npy", "--expect", "z=ref.npy", "--expect", "twice#3.w=ref.npy"]
    assert collect(folder, *plain, "-o", "plain.gprec")[0] == 0
    assert collect(folder, *asked)[0] == 1
    assert without_results(folder / "k.gprec") == without_results(folder / "plain.gprec")
    assert [(result.name, result.differ) for result in read_recording(folder / "k.gprec").results] == [
        ("twice#3.w", 63),
        ("twice#1.y", 0),
        ("z", 0),
    ]


def test_passes_replays_and_merged_recordings_keep_results(folder):
    wrong = ["--launch", WRONG, "--expect", "y=ref.npy", "--save-stream"]
    assert collect(folder, *wrong, "--passes", "2")[0] == 1
    results = read_recording(folder / "k.gprec").results
    assert list(map(str, results)) == [DIFFERS]
    code, out, error = gpuprof(folder, "replay", "k.gprec", "--chip", "t4")
    assert (code, masked(out).splitlines()[-1]) == (1, "N samples of 1 launch in 2 passes -> k-replay.gprec")
    assert error.endswith(f"    {DIFFERS}\nthey are those of k.gprec; k-replay.gprec is written and says so\n")
    assert read_recording(folder / "k-replay.gprec").results == results
    # Passes of which only one was compared, then another run behind them.
    right = ["--launch", RIGHT, "-o"]
    assert collect(folder, *right, "right.gprec")[0] == 0
    assert collect(folder, *right, "compared.gprec", "--seed", "1", "--expect", "y=zeros")[0] == 1
    assert gpuprof(folder, "merge", "right.gprec", "compared.gprec", "k.gprec", "-o", "all.gprec")[0] == 0
    assert [(each.launch, each.expected) for each in read_recording(folder / "all.gprec").results] == [
        (0, "zeros"),
        (1, "ref.npy"),
    ]


def test_a_replay_without_flags_is_the_same_recording(folder):
    assert collect(folder, "--launch", WRONG, "--expect", "y=ref.npy", "--save-stream")[0] == 1
    assert gpuprof(folder, "replay", "k.gprec")[0] == 1
    first, second = (chunks_of((folder / f"{name}.gprec").read_bytes())[1:] for name in ("k", "k-replay"))
    assert first == second


def test_a_fault_comes_before_results(folder):
    code, _, error = collect(folder, "--launch", WRONG.replace("62", "64").replace("y: f32[64]", "y: f32[8]"))
    assert code == 1 and "out of bounds" in error
    faulty = collect(folder, "--launch", RIGHT.replace("y: f32[64]", "y: f32[8]"), "--expect", "y=zeros")
    assert (faulty[0], faulty[2]) == (1, error)


SAVES = {
    "y=none/y.npy": "none/y.npy: there is no folder {folder}/none",
    "y=ref.npy": "ref.npy: is read by this command; give another name",
    "y=./in.npy": "in.npy: is read by this command; give another name",
    "y=linked.npy": "linked.npy: is the same file as in.npy, and is read by this command; give another name",
    "y=out.npy": "--save y: out.npy is a file of this run already; give another name",
    "x=y.npy": "--save x: y.npy is a file of this run already; give another name",
    "y=d.npy": "d.npy: is a folder; give a file name",
}


@pytest.mark.parametrize("save", SAVES)
def test_what_a_save_would_destroy(folder, save):
    (folder / "d.npy").mkdir()
    np.save(folder / "in.npy", np.zeros(64, np.float32))
    (folder / "linked.npy").hardlink_to(folder / "in.npy")
    files = names(folder)
    launch = RIGHT.replace("arange", "in.npy")
    code, out, error = collect(
        folder, "-o", "out.npy", "--launch", launch, "--save", "y=y.npy", "--save", save, "--expect", "y=ref.npy"
    )
    assert (code, out) == (2, "")
    assert error == f"gpuprof: {SAVES[save].format(folder=folder)}\n"
    assert names(folder) == files


@pytest.mark.parametrize("value", ["inf", "nan", "-1", "much"])
def test_tolerances_are_finite(folder, value):
    asked = collect(folder, "--launch", WRONG, "--expect", "y=ref.npy", "--atol", value)
    message = f"invalid value for '--atol': {value!r} is not a finite number from 0 on; see `gpuprof collect --help`"
    assert asked == (2, "", f"gpuprof: {message}\n")


def test_a_script_compares_itself(folder):
    write_files(folder, {"run.py": "import gpuprof\n"})
    code, out, error = gpuprof(folder, "collect", "run.py", "--expect", "y=ref.npy", "--save", "y=y.npy")
    assert (code, out) == (2, "")
    assert error == (
        "gpuprof: run.py: a script has its results itself: compare copy_to_host() there, as with "
        "numpy.testing.assert_allclose, or numpy.save it; leave out --expect, --save\n"
    )


def test_a_sweep_fails_runs_whose_results_differ(folder):
    code, _, error = gpuprof(
        folder,
        "sweep",
        "k.cu",
        "--define",
        "N=62,64",
        "--launch",
        "twice<<<2, 32>>>(x: f32[64]=arange, y: f32[64], {N}); y == ref.npy",
        "--expect",
        "x=arange",
        "--jobs",
        "1",
        "-o",
        "t.json",
    )
    wrong, right = json.loads((folder / "t.json").read_text())["rows"]
    assert (code, wrong["error"], right["error"]) == (1, f"results differ: {DIFFERS}", None)
    assert wrong["cycles"] is None and right["cycles"] > 0
    assert error.startswith("gpuprof: 1 of 2 runs failed, first run 0 (a100, N=62): results differ: y == ref.npy")
