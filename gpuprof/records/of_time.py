"""Whether samples are of all warps' time, so that the ledger has what they estimate: what the sampler's registers say,
as META and LNCH have them.
"""

from collections.abc import Mapping
from typing import Any

CYCLES = "cycles"  # the trigger that samples time; the others sample events
MODES = ("random", "all", "round-robin")  # whose samples stand for warps that issue as for warps that wait
EVERYWHERE = -1  # partition


def narrowed_by(registers: Mapping[str, Any]) -> str:
    """The first register by which they are not: "mode", "trigger", "partition" or "filter"; "" where they are. Values
    may be text, as in a database.
    """
    narrows = {
        "mode": registers.get("mode") not in MODES,
        "trigger": registers.get("trigger", CYCLES) != CYCLES,
        "partition": str(registers.get("partition", EVERYWHERE)) != str(EVERYWHERE),
        "filter": bool(registers.get("filter")),
    }
    return next((name for name, does in narrows.items() if does), "")
