from eager_ops import delta_rule

LOOP = "no operator runs a recurrence: one step after another"


def steps(len):
    return len


def run(q, k, v, gate, beta):
    return delta_rule(q, k, v, gate[..., None], beta)
