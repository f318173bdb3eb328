"""In which order blocks run, against clusters gone through by hand."""

from itertools import product

import numpy as np
import pytest

from gpuprof.base.block_order import linear_block
from tests.references.block_order import blocks_in_order


@pytest.mark.parametrize("cluster", [*product((1, 2), (1, 3), (1, 2))])
def test_blocks_run_cluster_by_cluster(cluster):
    grid = (4, 6, 2)
    sizes = (grid[0] // cluster[0], grid[1] // cluster[1], *cluster)
    expected = blocks_in_order(grid, cluster)
    assert [linear_block(number, *sizes) for number in range(48)] == expected
    assert linear_block(np.arange(48), *sizes).tolist() == expected


def test_an_order_by_hand():
    """
    A grid of 4 by 2 blocks in clusters of 2 by 2:   0 1 | 2 3
                                                     4 5 | 6 7
    """
    assert [linear_block(number, 2, 1, 2, 2, 1) for number in range(8)] == [0, 1, 4, 5, 2, 3, 6, 7]
