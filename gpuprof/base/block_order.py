"""The order in which the blocks of a grid run: cluster by cluster. Plain arithmetic on numbers, on arrays and in
compiled code.
"""


def linear_block(number, clusters_x, clusters_y, cluster_x, cluster_y, cluster_z):
    """The linear index in the grid of the block that runs as number `number` from 0. clusters_x, clusters_y: clusters
    along a side of the grid; cluster_x, cluster_y, cluster_z: blocks along a side of a cluster.
    """
    # clusters along x only leave the grid's own order
    if cluster_y == 1 and cluster_z == 1:
        return number
    blocks_of_cluster = cluster_x * cluster_y * cluster_z
    cluster, rank = number // blocks_of_cluster, number % blocks_of_cluster
    x = cluster % clusters_x * cluster_x + rank % cluster_x
    y = cluster // clusters_x % clusters_y * cluster_y + rank // cluster_x % cluster_y
    z = cluster // (clusters_x * clusters_y) * cluster_z + rank // (cluster_x * cluster_y)
    return x + clusters_x * cluster_x * (y + clusters_y * cluster_y * z)
