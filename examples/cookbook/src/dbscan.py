"""DBSCAN."""
import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree


def dbscan(points, radius, min_points):
    tree = KDTree(points)
    near = tree.sparse_distance_matrix(tree, radius, output_type="coo_matrix").tocsr()
    counts = np.diff(near.indptr)
    core = counts >= min_points
    rows, columns = np.repeat(np.arange(len(points)), counts), near.indices
    links = core[rows] & core[columns]
    graph = coo_matrix((np.ones(links.sum()), (rows[links], columns[links])), near.shape)
    _, component = connected_components(graph, directed=False)
    # every point belongs to the smallest cluster among the core points near it
    label = np.full(len(points), len(points))
    np.minimum.at(label, rows[core[columns]], component[columns[core[columns]]])
    found = label < len(points)
    return np.where(found, np.searchsorted(np.unique(label[found]), label), -1)
