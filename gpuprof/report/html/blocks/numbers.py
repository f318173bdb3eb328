"""Every number of each kernel that two profiles can be compared by."""

from collections.abc import Iterator

from gpuprof.correlate.metrics import METRICS, launch_values
from gpuprof.report.html.block import Columns, PageTable, by_column
from gpuprof.report.html.profile_block import Profile
from gpuprof.tables.table import Column

NUMBERS = (
    Column("kernel", "int", "", "Row of `kernels`."),
    Column("name", "text", "", "Of the metric, as `gpuprof list metrics` has it."),
    Column("unit", "text", "", "Its unit."),
    Column("text", "text", "", "What it is."),
    Column("value", "int", "", "Of all launches, summed; what belongs to the kernel itself once."),
)
OF_KERNELS = ("registers", "shared_nbytes", "local_nbytes")  # which launches do not add up


def number_columns(profile: Profile) -> Columns:
    return by_column(NUMBERS, number_rows(profile))


def number_rows(profile: Profile) -> Iterator[tuple]:
    """Metrics that every launch of the kernel has."""
    of_launch = launch_values(profile.database)
    for number, kernel in enumerate(profile.report.kernels):
        measured = [of_launch[launch.launch] for launch in kernel.launches if launch.complete]
        for metric in METRICS:
            values = [value for values in measured if (value := values.get(metric.name)) is not None]
            if measured and len(values) == len(measured):
                value = getattr(kernel, metric.name) if metric.name in OF_KERNELS else sum(values)
                yield number, metric.name, metric.unit, metric.text, value


TABLES = (PageTable("numbers", "Every metric of each kernel.", NUMBERS, number_columns),)
