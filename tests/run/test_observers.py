"""The events that a session reports to its observers, in their order."""

import numpy as np
import pytest

from gpuprof.errors import DeviceMemoryError, KernelFault
from gpuprof.run.observers.observer import SessionObserver
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device

SOURCE = """
__global__ void add(int *x, int value) { x[threadIdx.x] += value; }
__global__ void beyond(int *x) { x[1 << 28] = 1; }
"""


class Events(SessionObserver):
    """Records the name of each event."""

    def __init__(self):
        self.names: list[str] = []

    def take(self) -> list[str]:
        names, self.names = self.names, []
        return names


def _event(name: str):
    default = getattr(SessionObserver, name)

    def event(self: Events, *given):
        self.names.append(name)
        return default(self, *given)

    return event


for _name, _method in vars(SessionObserver).items():
    if callable(_method):
        setattr(Events, _name, _event(_name))


@pytest.fixture
def watched(tmp_path):
    """A GPU, its module, and the events from here on."""
    (tmp_path / "k.cu").write_text(SOURCE)
    device, events = open_device(Settings(chip_name="rtx3090")), Events()
    device.executor.observers.append(events)
    module = device.load(tmp_path / "k.cu")
    assert events.take() == ["command", "loaded", "done"]
    return device, module, events


def test_a_launch_in_flight(watched):
    """It is requested, and emulated and timed once the host waits."""
    device, module, events = watched
    x = device.to_device(np.zeros(32, np.int32))
    assert events.take() == ["command", "done", "command", "happens", "operated", "done"]  # allocated, copied in
    module.add[1, 32, device.stream()](x, 1)
    assert events.take() == ["command", "launch", "done"]
    device.synchronize()
    assert events.take() == ["command", "trace", "emulated", "timed", "settled", "happens", "done"]
    device.executor.finish()
    assert events.take() == ["finish"]


def test_a_fault_stops_all_in_flight(watched):
    device, module, events = watched
    x = device.to_device(np.zeros(32, np.int32))
    stream = device.stream()
    module.add[1, 32, stream](x, 1)
    module.beyond[1, 32, stream](x)
    events.take()
    with pytest.raises(KernelFault, match="out of bounds"):
        device.synchronize()
    assert events.take() == ["command", "trace", "trace", "emulated", "emulated", "flush", *["stopped", "note"] * 2]


def test_a_command_that_is_refused(watched):
    device, _, events = watched
    x = device.device_array(4, np.int32)
    x.free()
    events.take()
    with pytest.raises(DeviceMemoryError):
        x.free()
    assert events.take() == ["command", "happens", "refused"]
