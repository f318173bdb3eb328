"""The comparison as lines of text."""

from collections.abc import Sequence

from gpuprof.chips.fidelity.published_kernels import Row, Spread, by, spread, steps
from tests.silicon.balanced import balanced_error

FAR_STEP = 0.2


def line(row: Row, seconds: float) -> str:
    """A row: published and modelled cycles, their ratio, trust, the time that it took."""
    begin = f"{row.id:<46} {row.compiler:<5} {row.published_cycles:>12.0f}"
    end = f"{row.trust:<11} {seconds:5.1f} s  {row.reason}"
    if row.model_cycles is None:
        return f"{begin} {'-':>12} {'-':>6} {'':<9} {end}"
    ratio = row.model_cycles / row.published_cycles
    return f"{begin} {row.model_cycles:>12.0f} {ratio:6.2f} {row.kind:<9} {end}".rstrip()


def summary(rows: Sequence[Row]) -> list[str]:
    """By compiler: each set, family and card, the steps that are far off, the headline."""
    lines = []
    for compiler, found in by(lambda row: row.compiler, rows).items():
        lines += [f"{compiler:<24} {'rows':>5} {'mean':>7} {'median':>7} {'p90':>7} {'rank':>6}"]
        for what in ("set", "family", "kind", "card"):
            for name, members in by(lambda row, what=what: getattr(row, what), found).items():
                lines.append(_spread(f"{what} {name}", spread(members)))
        for step in steps(found):
            if abs(step.error) > FAR_STEP:
                lines.append(
                    f"step {step.first} -> {step.second}: {step.published:.2f} times, here {step.model:.2f} "
                    f"({100 * step.error:+.0f} %)"
                )
        missing = sum(row.model_cycles is None for row in found)
        if missing:
            lines.append(f"{missing} rows do not run")
        error = balanced_error(found)
        if error is not None:
            lines.append(f"mean error by family and card: {100 * error:.1f} %")
        lines.append("")
    return lines


def _spread(name: str, found: Spread) -> str:
    if not found.rows:
        return f"{name:<24} {0:>5}"
    rank = "" if found.rank is None else f"{found.rank:6.2f}"
    off = f"{100 * found.mean:5.1f} % {found.median_ratio:7.2f} {100 * found.p90:5.1f} %"
    return f"{name:<24} {found.rows:>5} {off} {rank}".rstrip()
