"""How the suite runs Hypothesis: the same examples every time, however slow the machine is, so that a change that is
right never fails by luck. `make fuzz` takes new ones at random (and notes those that fail, as Hypothesis does).

Commands show no progress, or stderr would depend on how fast the machine is; the tests of progress ask for it.

Checks print no annotations, also where a runner of GitHub has started the suite; the tests of annotations ask for them.

Byte code is written, also where the environment says otherwise: tests start the program hundreds of times, and each
start would compile all of its modules; each process of the suite would do so with all tests.

Ctrl-C reaches what tests start, also where a shell in the background has started the suite, which then ignores it
(`make test &` of a script, and some runners): programs inherit what is ignored, and the tests of interrupts would wait
for ever.
"""

import gc
import os
import signal
import sys

from hypothesis import HealthCheck, settings

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ["GPUPROF_PROGRESS"] = "off"
for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"):
    os.environ.pop(name, None)
signal.signal(signal.SIGINT, signal.default_int_handler)
settings.register_profile("suite", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fuzz", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("fuzz" if os.environ.get("GPUPROF_FUZZ") else "suite")


def pytest_collection_finish():
    """Thousands of tests, and the modules that they need, stay to the end: the garbage collector leaves them alone from
    now on, which is a twentieth of the suite's time.
    """
    gc.freeze()


def pytest_sessionfinish():
    """Libraries that look for leaks at the exit find what is freed as always."""
    gc.unfreeze()
