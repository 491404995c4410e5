def run(hidden, owner, gate, tokens, width):
    return hidden.new_zeros(tokens, width).index_add_(0, owner, hidden * gate[:, None])
