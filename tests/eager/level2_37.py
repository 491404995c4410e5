import torch

from eager_ops import owner_of, segment_softmax


def run(row_ptr, col, score, x, rows, nodes, edges):
    p = segment_softmax(score, owner_of(row_ptr, edges), rows)
    return torch.sparse_csr_tensor(row_ptr, col, p, (rows, nodes)) @ x
