"""All figures, in the order of the table. A figure more is a row in its group's file."""

from tests.microbench import of_arithmetic, of_blocks, of_far, of_near, of_occupancy, of_synchronisation, of_tensor

GROUPS = (of_arithmetic, of_near, of_far, of_blocks, of_synchronisation, of_tensor, of_occupancy)
FIGURES = [figure for group in GROUPS for figure in group.FIGURES]
BY_NAME = {figure.name: figure for figure in FIGURES}
