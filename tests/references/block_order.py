"""The order of blocks, cluster by cluster, gone through one by one: x runs fastest, of clusters and within them."""


def blocks_in_order(grid: tuple[int, int, int], cluster: tuple[int, int, int]) -> list[int]:
    """Linear indexes in the grid."""
    found = []
    for first_z in range(0, grid[2], cluster[2]):
        for first_y in range(0, grid[1], cluster[1]):
            for first_x in range(0, grid[0], cluster[0]):
                for z in range(first_z, first_z + cluster[2]):
                    for y in range(first_y, first_y + cluster[1]):
                        found += [x + grid[0] * (y + grid[1] * z) for x in range(first_x, first_x + cluster[0])]
    return found
