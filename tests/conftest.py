"""How the suite runs Hypothesis: the same examples every time, however slow the machine is, so that a change that is
right never fails by luck. `make fuzz` takes new ones at random (and notes those that fail, as Hypothesis does)."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile("suite", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fuzz", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("fuzz" if os.environ.get("GPUPROF_FUZZ") else "suite")
