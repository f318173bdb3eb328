"""Compares what another checkout computes with what this one does: python -m tests.same BASE.

BASE is a revision of git, or the folder of another checkout. Both collect the samples on three chips, and their
recordings, databases, reports, exports and programs are compared. declared.py says what may differ. The exit code is 1
where anything else does.
"""

import argparse
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from tests.paths import ROOT
from tests.same.compare import Difference, differences
from tests.same.declared import RENAMES, SAME_NAMES, Names
from tests.same.make import Checkout, base_checkout, folders_of, made
from tests.same.plan import CHIPS, QUICK_CHIPS, SAMPLES, Sample, chips_of
from tests.same.texts import Side


def main() -> int:
    options = _options()
    samples = [s for s in SAMPLES if re.search(options.samples, s.name) and (s.is_quick or not options.quick)]
    chips = options.chips.split(",") if options.chips else list(QUICK_CHIPS if options.quick else CHIPS)
    missing = [sample for sample in samples if sample.missing]
    for sample in missing:
        print(f"skipped: {sample.name}: {sample.missing} is not installed")
    pairs = [(sample, chip) for sample in samples if not sample.missing for chip in chips_of(sample, chips)]
    if not pairs:
        print("nothing to compare")
        return 1
    start = time.monotonic()
    scratch = Path(tempfile.mkdtemp(prefix="gpuprof-same-"))
    n_different = _compare_all(base_checkout(options.base, scratch), pairs, scratch, options)
    skipped = f", {len(missing)} samples skipped" if missing else ""
    verdict = f"{n_different} differ" if n_different else "equal"
    print(f"{len(pairs)} pairs of sample and chip: {verdict}{skipped}, {time.monotonic() - start:.0f} s")
    if n_different:
        print(f"artefacts of this checkout: {scratch}")
        return 1
    shutil.rmtree(scratch)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.same", description=__doc__.partition("\n\n")[2])
    parser.add_argument("base", help="a revision, or the folder of a checkout")
    parser.add_argument("--samples", default="", metavar="RE", help="only samples whose name has a match")
    parser.add_argument("--chips", default="", metavar="A,B", help=f"default: {','.join(CHIPS)}")
    parser.add_argument("--quick", action="store_true", help=f"a few samples, on {','.join(QUICK_CHIPS)}")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes at a time; default: 2")
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path(tempfile.gettempdir()) / "gpuprof-same-cache",
        metavar="DIR",
        help="where artefacts of bases are cached",
    )
    return parser.parse_args()


def _compare_all(
    base: Checkout, pairs: Sequence[tuple[Sample, str]], scratch: Path, options: argparse.Namespace
) -> int:
    """Number of pairs that differ. Artefacts of a base without a commit, and all of this checkout's, are in
    `scratch`.
    """
    of_base = options.cache.resolve() if base.commit else scratch / "of-base"
    n_different = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        waiting = {pool.submit(_compare, base, of_base, scratch / "current", *pair): pair for pair in pairs}
        for each in as_completed(waiting):
            sample, chip = waiting[each]
            found, seconds = each.result()
            n_different += bool(found)
            print(f"{sample.name} {chip}: {f'{len(found)} differ' if found else 'equal'} ({seconds:.0f} s)", flush=True)
            for difference in found:
                print(f"  {sample.name} {chip} {difference}")
    return n_different


def _compare(
    base: Checkout, of_base: Path, of_current: Path, sample: Sample, chip: str
) -> tuple[list[Difference], float]:
    start = time.monotonic()
    old = made(base, sample, chip, of_base)
    new = made(Checkout(ROOT), sample, chip, of_current)
    names = Names(RENAMES) if any(RENAMES.values()) else SAME_NAMES
    found = list(differences(old, new, Side(folders_of(old), names), Side(folders_of(new))))
    if not found:
        shutil.rmtree(new)
    return found, time.monotonic() - start


if __name__ == "__main__":
    sys.exit(main())
