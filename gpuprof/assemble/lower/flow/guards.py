"""Guards of what cannot be guarded itself: a branch around it."""


def branch_past(lowering) -> str:
    """Emits a branch past the next instruction for lanes whose guard does not hold, and drops the guard. Returns its
    label; "" for an instruction without a guard.
    """
    if lowering.guard[0] is None:
        return ""
    skip = lowering.new_label()
    guard, negated = lowering.guard
    lowering.guard = (guard, not negated)
    lowering.emit("BRA", target=skip)
    lowering.guard = (None, False)
    return skip
