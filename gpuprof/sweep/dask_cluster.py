"""Runs on an existing Dask cluster."""

import logging
import re
import traceback
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from gpuprof.errors import GpuprofError, UsageError
from gpuprof.sweep.run_sweep import Outcome, Task, differing, run_one, versions

if TYPE_CHECKING:
    from distributed import Client

_ADDRESS = re.compile(r"(\w+://)?\S+:\d+", re.ASCII)
SECONDS_TO_CONNECT = 10
SECONDS_TO_WAIT_FOR_WORKERS = 60


def check_installed() -> None:
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise UsageError("--scheduler needs Dask; install it with: pip install 'gpuprof[dask]'") from None


def on_cluster(tasks: Sequence[Task], address: str) -> Iterator[Outcome]:
    """The outcomes, in the order they are ready. A run whose workers die time after time fails, and no other.

    Raises what `results` raises.
    """
    for place, status, result in results(run_there, tasks, address):
        yield _outcome(address, tasks[place].number, status, result)


def results(function: Callable, given: Sequence, address: str) -> Iterator[tuple[int, str, object]]:
    """(place, the future's status, what `function` makes of the value there), in the order they are ready. The
    scheduler gives the values of a worker that it lost to another one, also those that were done but not fetched.

    Raises GpuprofError when no scheduler or no worker answers, or when a worker has another gpuprof.
    """
    check_installed()
    from distributed import as_completed

    # what is lost comes back as an outcome, or as an error of ours
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with _connect(address) as client:
        _check_workers(client, address)
        sweep = uuid.uuid4().hex  # separates sweeps on one cluster
        places = {
            client.submit(function, value, key=f"gpuprof-sweep-{sweep}-{place}", pure=False): place
            for place, value in enumerate(given)
        }
        for future, result in as_completed(places, loop=client.loop, with_results=True, raise_errors=False):
            yield places[future], future.status, result


def run_there(task: Task) -> Outcome | str:
    """On a worker: the outcome; or what went wrong in gpuprof itself, as text, since a client may wait for ever for an
    exception that does not survive the way.
    """
    try:
        return run_one(task)
    except GpuprofError as error:
        return str(error)
    except Exception:
        return traceback.format_exc()


def _connect(address: str) -> "Client":
    from distributed import Client

    if not _ADDRESS.fullmatch(address):
        raise UsageError(
            f"--scheduler {address}: expected the address that `dask scheduler` prints, such as tcp://10.0.0.1:8786"
        )
    try:
        return Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False)
    except OSError as error:  # TimeoutError is one
        raise GpuprofError(f"--scheduler {address}: no Dask scheduler answers there: {error or 'time is up'}") from None


def _check_workers(client: "Client", address: str) -> None:
    """Raises GpuprofError unless there are workers, all with this gpuprof. One that joins later is asked again with
    each run.
    """
    try:
        client.wait_for_workers(1, timeout=SECONDS_TO_WAIT_FOR_WORKERS)
    except TimeoutError:
        raise GpuprofError(
            f"--scheduler {address}: has no workers; start some with `dask worker {address} --nthreads 1`"
        ) from None
    for worker, found in sorted(client.run(versions, on_error="return").items()):
        if isinstance(found, BaseException):
            raise GpuprofError(f"worker {worker}: cannot import gpuprof: {found}; install the same gpuprof everywhere")
        if difference := differing(found, versions()):
            raise GpuprofError(f"worker {worker}: {difference}")


def _outcome(address: str, number: int, status: str, result: object) -> Outcome:
    """The outcome that a finished future holds."""
    if isinstance(result, Outcome):
        return result
    if is_killed(status, result):
        return Outcome(number, (), KILLED)
    raise lost(address, status, result)


KILLED = "its worker died each time; was it out of memory?"


def is_killed(status: str, result: object) -> bool:
    """True if the workers of this value died time after time."""
    from distributed.scheduler import KilledWorker

    return status == "error" and isinstance(result[1], KilledWorker)


def lost(address: str, status: str, result: object) -> BaseException:
    """Why there is no result: text of an error on the worker, an error of Dask's, or the scheduler's end."""
    if isinstance(result, str):
        return GpuprofError(result)
    if status == "error":
        return result[1]
    return GpuprofError(f"--scheduler {address}: the scheduler went away; start it again, then run this again")
