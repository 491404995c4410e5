def run(target, message, nodes, width):
    return message.new_zeros(nodes, width).index_add_(0, target, message)
