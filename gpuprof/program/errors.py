"""CUDA's numbers for our errors: cudaError (CUDA Runtime API, enum cudaError)."""

from gpuprof.errors import (
    CompileError,
    DeviceMemoryError,
    GpuprofError,
    KernelFault,
    LaunchRefused,
    PtxError,
    UsageError,
)

INVALID_VALUE = 1
MEMORY_ALLOCATION = 2
INVALID_CONFIGURATION = 9
INVALID_SYMBOL = 13
INVALID_DEVICE_FUNCTION = 98
NO_KERNEL_IMAGE = 209
INVALID_RESOURCE_HANDLE = 400
LAUNCH_OUT_OF_RESOURCES = 701
COOPERATIVE_LAUNCH_TOO_LARGE = 720
NOT_SUPPORTED = 801
INVALID_CLUSTER_SIZE = 912
UNKNOWN = 999

# The first class that an error belongs to gives its number.
NUMBERS: tuple[tuple[type[GpuprofError], int], ...] = (
    (DeviceMemoryError, INVALID_VALUE),
    (CompileError, NO_KERNEL_IMAGE),
    (PtxError, 218),
    (UsageError, INVALID_VALUE),
)
# The error of a launch, by the limit that it goes over.
LAUNCH_LIMITS = {
    "extent": INVALID_CONFIGURATION,
    "resources": LAUNCH_OUT_OF_RESOURCES,
    "kernel": INVALID_VALUE,
    "cluster": INVALID_CLUSTER_SIZE,
}
# The error of a lost context, by the kind of the fault.
FAULTS = {"address": 700, "alignment": 716, "assertion": 710, "timeout": 702, "launch": 719}


class Failed(Exception):
    """A call fails with a cudaError; `text` says why to the user."""

    def __init__(self, status: int, text: str = ""):
        super().__init__(text)
        self.status, self.text = status, text


def number_of(error: GpuprofError) -> int:
    """The cudaError of one of our errors."""
    if isinstance(error, KernelFault):
        return FAULTS[error.kind]
    if isinstance(error, LaunchRefused):
        return LAUNCH_LIMITS[error.limit]
    return next((number for kind, number in NUMBERS if isinstance(error, kind)), UNKNOWN)
