"""The rules of a regression: limits like `cycles=1%|200`."""

import re
from fractions import Fraction
from typing import NamedTuple

from gpuprof.base.wording import suggestion
from gpuprof.correlate.metrics import BY_NAME
from gpuprof.errors import UsageError

DEFAULT = ("cycles=1%|200",)
_RULE = re.compile(r"(?P<metric>\w+)=(?P<limits>[^=]+)")
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")
_ABSOLUTE = re.compile(r"\d+")


class Rule(NamedTuple):
    """A metric may grow by `percent` of its old value, or by `absolute`; a rule that gives both is broken when both are
    exceeded.
    """

    metric: str
    percent: Fraction | None
    absolute: int | None
    text: str  # as the user wrote it

    @property
    def limit(self) -> str:
        """ "1%|200"."""
        return self.text.partition("=")[2].strip()

    def exceeded_by(self, change: int, old: int) -> bool:
        """True where `change`, a growth or a saving as a positive number, exceeds the rule's limit."""
        over_percent = self.percent is None or change * 100 > self.percent * old
        return change > 0 and over_percent and (self.absolute is None or change > self.absolute)


def parse_rule(text: str) -> Rule:
    """`metric=PCT%`, `metric=ABS` or `metric=PCT%|ABS`; raises UsageError for any other text or an unknown metric."""
    match = _RULE.fullmatch(text.strip())
    if not match:
        raise UsageError(
            f"--fail-on {text!r}: expected METRIC=LIMIT, as in cycles=1%, cycles=200, or cycles=1%|200 (both exceeded)"
        )
    metric = match["metric"]
    if metric not in BY_NAME:
        near = suggestion(metric, BY_NAME) or f"the metrics are: {', '.join(BY_NAME)}"
        raise UsageError(f"--fail-on {text!r}: {metric!r} is not a metric; {near}")
    percent, absolute = None, None
    for limit in map(str.strip, match["limits"].split("|")):
        if percent is None and (found := _PERCENT.fullmatch(limit)):
            percent = Fraction(found[1])
        elif absolute is None and _ABSOLUTE.fullmatch(limit):
            absolute = int(limit)
        else:
            raise UsageError(
                f"--fail-on {text!r}: {limit!r} is not a limit; give a percentage (1%), a count (200), or both (1%|200)"
            )
    return Rule(metric, percent, absolute, text.strip())
