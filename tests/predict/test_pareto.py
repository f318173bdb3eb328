"""The Pareto front against all pairs of points, and files of costs."""

import numpy as np
import pytest

from gpuprof.chips import load_chip
from gpuprof.errors import UsageError
from gpuprof.predict.chip_numbers import numbers_of
from gpuprof.predict.output.prediction_plot import scatter
from gpuprof.predict.space.pareto import costs_of, front, read_costs


def beaten(cost, score, k):
    """Whether another point is at least as good in both, and better in one, or the same and before it."""
    for j in range(len(cost)):
        if j == k or np.isnan(score[j]):
            continue
        as_good = cost[j] <= cost[k] and score[j] >= score[k]
        if as_good and (cost[j] < cost[k] or score[j] > score[k] or j < k):
            return True
    return False


@pytest.mark.parametrize("seed", range(8))
def test_the_front_has_the_points_that_nothing_beats(seed):
    random = np.random.default_rng(seed)
    cost, score = random.integers(0, 12, 60).astype(float), random.integers(0, 12, 60).astype(float)
    score[random.integers(0, 60, 6)] = np.nan
    expected = [k for k in range(60) if not np.isnan(score[k]) and not beaten(cost, score, k)]
    assert sorted(front(cost, score).tolist()) == expected


def test_nothing_is_on_the_front_of_refused_points():
    assert front(np.ones(3), np.full(3, np.nan)).tolist() == []


def test_costs_add_up(tmp_path):
    (tmp_path / "cost.csv").write_text("number,cost\nsms,1.5\nl2_mb,0.25\n\nfixed,10\n")
    costs = read_costs(tmp_path / "cost.csv")
    assert costs == {"sms": 1.5, "l2_mb": 0.25, "fixed": 10.0}
    assert costs_of(numbers_of([load_chip("a100")]), costs).tolist() == [108 * 1.5 + 40 * 0.25 + 10]


@pytest.mark.parametrize("start, end", [("", "\r"), ("", "\r\n"), ("\ufeff", "\n")])
def test_files_of_other_systems_are_read(tmp_path, start, end):
    (tmp_path / "cost.csv").write_bytes((start + end.join(["number,cost", "sms,2", ""])).encode())
    assert read_costs(tmp_path / "cost.csv") == {"sms": 2.0}


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "expected the heading number,cost"),
        ("name,cost\n", "expected the heading number,cost"),
        ("number,cost\nsms\n", "line 2: expected two columns, got 1"),
        ("number,cost\nsms,much\n", "line 2: 'much' is not a cost"),
        ("number,cost\nsms,nan\n", "line 2: 'nan' is not a cost"),
        ("number,cost\nsms,1e308\n", "line 2: '1e308' is not a cost"),
        ("number,cost\n" + "x" * 200_000, "is not a CSV table (field larger than field limit"),
        ("number,cost\nwheels,4\n", "line 2: a chip has no number 'wheels'"),
        ("number,cost\narch,4\n", "line 2: a chip has no number 'arch'"),
        ("number,cost\nsms,1\nsms,2\n", "line 3: sms is listed twice"),
    ],
)
def test_files_that_say_no_costs_are_refused(tmp_path, text, message):
    (tmp_path / "cost.csv").write_text(text)
    with pytest.raises(UsageError) as caught:
        read_costs(tmp_path / "cost.csv")
    assert message in str(caught.value)


def test_the_plot_has_the_ends_of_both_axes():
    legend, *lines = scatter(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 1.5]), np.array([0, 1]))
    assert legend == "# score (upwards) by cost (to the right); *: no other point beats it"
    assert len(lines) == 18
    assert lines[0] == "    2.00 |" + " " * 32 + "*"
    assert lines[8].startswith(" " * 9 + "|")
    assert lines[15] == "    1.00 |*"
    assert lines[17] == " " * 10 + "1" + " " * 62 + "3"


@pytest.mark.parametrize("width, longest", [(20, 20), (40, 40), (200, 74)])
def test_the_plot_fits_a_page(width, longest):
    _, *lines = scatter(np.array([1.0, 3.0]), np.array([1.0, 2.0]), np.array([0, 1]), width)
    assert max(map(len, lines)) == longest
