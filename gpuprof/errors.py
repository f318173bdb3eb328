"""All errors of gpuprof. A command turns any of them into one line on stderr and the error's exit code."""


class GpuprofError(Exception):
    """Base. The message says what is wrong, where, and what to do. Exit code 1: the run failed."""

    exit_code = 1


class UsageError(GpuprofError):
    """Wrong flags, a launch that does not fit its kernel, an unknown name, a file that is not there."""

    exit_code = 2


# Which limit a launch goes over: an extent of its grid or block, the registers of an SM, what the kernel was compiled
# for or may have of shared memory, or the shape of its clusters.
LAUNCH_LIMITS = ("extent", "resources", "kernel", "cluster")


class LaunchRefused(UsageError):
    """A launch that a GPU refuses. `limit`: one of LAUNCH_LIMITS."""

    def __init__(self, message: str, limit: str):
        super().__init__(message)
        assert limit in LAUNCH_LIMITS, limit
        self.limit = limit


class CompileError(GpuprofError):
    """The source does not compile. `diagnostics` is the compiler's own text, unchanged."""

    def __init__(self, message: str, diagnostics: str = ""):
        super().__init__(message)
        self.diagnostics = diagnostics
        if diagnostics:
            self.add_note(diagnostics.rstrip("\n"))  # Python's own traceback shows it, where a script runs by itself


class ScriptError(GpuprofError):
    """The user's own script raised an exception. `diagnostics` is its traceback, as Python prints it."""

    def __init__(self, message: str, diagnostics: str):
        super().__init__(message)
        self.diagnostics = diagnostics


class GeneratorError(GpuprofError):
    """A trace generator raised an exception. `diagnostics` is its traceback, as Python prints it."""

    def __init__(self, message: str, diagnostics: str):
        super().__init__(message)
        self.diagnostics = diagnostics
        self.add_note(diagnostics.rstrip("\n"))  # Python's own traceback shows it, where a script runs by itself


class PtxError(GpuprofError):
    """PTX that cannot be parsed or is not valid; carries the place.

    `source`: "k.cu:6", the line that the PTX was made from. It comes first where the user has no .ptx file to look
    into.
    """

    def __init__(self, message: str, name: str = "", line: int = 0, column: int = 0, source: str = ""):
        location = f"{name}:{line}:{column}: " if line else (f"{name}: " if name else "")
        if source and not name.endswith(".ptx"):
            super().__init__(f"{source}: {message} (PTX line {line})")
        else:
            super().__init__(location + message + (f" (source {source})" if source else ""))
        self.line, self.column = line, column


class UnsupportedInstruction(PtxError):
    """An instruction gpuprof does not have. The message names opcode, PTX line and source line."""


class FileFormatError(GpuprofError):
    """A damaged, truncated, foreign or newer file."""


class DeviceMemoryError(GpuprofError):
    """The host misused device memory: out of memory, a double free, an address that no allocation holds. `is_reported`:
    a checker has reported it.
    """

    is_reported = False


# What a kernel's fault is: memory that it must not touch, an address that is not aligned, a failed `assert`, more
# instructions than allowed; or anything else.
FAULTS = ("address", "alignment", "assertion", "timeout", "launch")


class KernelFault(GpuprofError):
    """The kernel did what a GPU would trap on. `kind`: one of FAULTS."""

    def __init__(self, message: str, kind: str = "launch"):
        super().__init__(message)
        assert kind in FAULTS, kind
        self.kind = kind


class ContextLost(GpuprofError):
    """A fault has ended a program's context. It was reported when it happened; `diagnostics` is its text, for callers
    that did not get that report.
    """

    def __init__(self, program: str, fault: KernelFault):
        super().__init__(f"{program}: the program's GPU context was lost")
        self.diagnostics = str(fault)


class NotLaunched(GpuprofError):
    """A program has launched a kernel whose code cannot be loaded, and has not requested the error."""


class WrongResult(GpuprofError):
    """A kernel computed something else than it should have: an array differs from its expected values."""


class NotComparable(GpuprofError):
    """Nothing was measured, no baseline, or two runs that cannot be compared. `cause`: what differs between two runs, a
    name of check.causes.CAUSES; "" for anything else.
    """

    exit_code = 4

    def __init__(self, message: str, cause: str = ""):
        super().__init__(message)
        self.cause = cause


class Regression(GpuprofError):
    """A check found a kernel slower than its baseline allows."""

    exit_code = 3


class DebugError(GpuprofError):
    """The debugger cannot carry out a command. It continues."""


class NoValue(DebugError):
    """A variable has no value here; the message is shown instead: <optimized out>, <not set yet>."""


# The error of each exit code, for what another gpuprof has said by its own.
OF_EXIT_CODE = {error.exit_code: error for error in (GpuprofError, UsageError, Regression, NotComparable)}
