import torch


def run(row_ptr, col, val, x, rows, cols):
    return torch.sparse_csr_tensor(row_ptr, col, val, (rows, cols)) @ x
