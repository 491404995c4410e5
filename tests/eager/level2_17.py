from eager_ops import attend


def run(q, k, v, q_scale, k_scale, v_scale):
    real = [(t * scale[:, None]).transpose(1, 2) for t, scale in ((q, q_scale), (k, k_scale), (v, v_scale))]
    return attend(*real, causal=True).transpose(1, 2)
