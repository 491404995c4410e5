from eager_ops import owner_of


def run(row_ptr, col, weight, x, rows, nnz, heads, feature):
    message = weight[:, :, None] * x.index_select(0, col)
    return x.new_zeros(rows, heads, feature).index_add_(0, owner_of(row_ptr, nnz), message)
