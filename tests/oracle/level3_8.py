"""Golden vectors of level3/8: tables of vectors by (batch, sequence, residue) and by pair, in 50-digit decimals."""

import golden
from layers import dot, floats, layer_norm, linear, sigmoid, softmax, times, vectors


def attend(x, t, heads, hd):
    """The residues of one sequence to each other, with gate and projection."""
    channels = heads * hd
    q, k, v = ([linear(t["w_qkv"][j * channels:(j + 1) * channels], row) for row in x] for j in range(3))
    out = []
    for i, row in enumerate(x):
        o = []
        for h in range(heads):
            part = slice(h * hd, (h + 1) * hd)
            weights = softmax([dot(q[i][part], key[part]) / golden.exact(hd).sqrt() for key in k])
            o += [dot(weights, [value[d] for value in v]) for d in range(part.start, part.stop)]
        out.append(linear(t["w_out"], times(o, sigmoid(linear(t["w_gate"], row, t["b_gate"][0]))), t["b_out"][0]))
    return out


def plus(u, v):
    return [a + b for a, b in zip(u, v)]


def draw_inputs(rng, batch, depth, res, channels, edge, hidden, mean):
    draw = lambda count, std=1.0, m=0.0: golden.normals(rng, count, m, std)
    weight = lambda rows, width, gain=1.0: draw(rows * width, gain * width ** -0.5)
    return {"msa": draw(batch * depth * res * channels, 1.0, mean), "pair": draw(batch * res * res * edge),
            "gain_msa": draw(2 * channels, 0.2, 1), "shift_msa": draw(2 * channels, 0.2),
            "w_qkv": weight(3 * channels, channels, 1.2), "w_gate": weight(channels, channels), "b_gate": draw(channels, 0.5),
            "w_out": weight(channels, channels, 2.0), "b_out": draw(channels, 0.2),
            "w_side": weight(2 * hidden, channels), "b_side": draw(2 * hidden, 0.3, 0.2),
            "w_mean": weight(edge, hidden * hidden, 2.0), "b_mean": draw(edge, 0.2),
            "gain_pair": draw(edge, 0.2, 1), "shift_pair": draw(edge, 0.2),
            "w_tri": weight(2 * hidden, edge), "b_tri": draw(2 * hidden, 0.3, 0.2),
            "gain_tri": draw(hidden, 0.2, 1), "shift_tri": draw(hidden, 0.2),
            "w_up": weight(edge, hidden), "b_up": draw(edge, 0.2), "w_tell": weight(edge, edge), "b_tell": draw(edge, 0.5)}


def case(seed, batch, depth, res, heads, hd, edge, hidden, mean=0.0):
    channels = heads * hd
    inputs = draw_inputs(golden.generator(seed), batch, depth, res, channels, edge, hidden, mean)
    narrow = {"b_side", "b_tri", "gain_tri", "shift_tri", "w_up"}
    wide = {"pair", "b_mean", "gain_pair", "shift_pair", "w_tri", "b_up", "w_tell", "b_tell"}
    width = lambda name: hidden * hidden if name == "w_mean" else hidden if name in narrow else edge if name in wide else channels
    t = {name: vectors(data, width(name)) for name, data in inputs.items()}
    msa, pair = [], []
    for b in range(batch):
        lines = []
        for s in range(b * depth, (b + 1) * depth):
            old = t["msa"][s * res:(s + 1) * res]
            x = [layer_norm(v, t["gain_msa"][0], t["shift_msa"][0]) for v in old]
            lines.append([plus(u, v) for u, v in zip(old, attend(x, t, heads, hd))])
        msa += [v for line in lines for v in line]
        normal = [[layer_norm(v, t["gain_msa"][1], t["shift_msa"][1]) for v in line] for line in lines]
        u, w = ([[linear(t["w_side"][j * hidden:(j + 1) * hidden], v, t["b_side"][j]) for v in line] for line in normal]
                for j in range(2))
        z, r = {}, {}
        for i in range(res):
            for j in range(res):
                outer = [sum(u[s][i][e] * w[s][j][f] for s in range(depth)) / depth for e in range(hidden) for f in range(hidden)]
                z[i, j] = plus(t["pair"][(b * res + i) * res + j], linear(t["w_mean"], outer, t["b_mean"][0]))
                r[i, j] = layer_norm(z[i, j], t["gain_pair"][0], t["shift_pair"][0])
        a, g = ({at: linear(t["w_tri"][j * hidden:(j + 1) * hidden], v, t["b_tri"][j]) for at, v in r.items()} for j in range(2))
        for i, j in z:
            third = [sum(a[i, k][h] * g[j, k][h] for k in range(res)) for h in range(hidden)]
            more = linear(t["w_up"], layer_norm(third, t["gain_tri"][0], t["shift_tri"][0]), t["b_up"][0])
            pair.append(plus(z[i, j], times(more, sigmoid(linear(t["w_tell"], r[i, j], t["b_tell"][0])))))
    return {"dims": {"batch": batch, "depth": depth, "res": res, "heads": heads, "hd": hd, "edge": edge, "hidden": hidden},
            "scalars": {}, "inputs": inputs, "expected": {"msa_out": floats(msa), "pair_out": floats(pair)}}


golden.write("level3/8", [case(1, 1, 2, 3, 2, 2, 5, 3), case(2, 1, 1, 1, 1, 1, 1, 1), case(3, 2, 3, 2, 1, 3, 2, 2, 4.0),
                          case(4, 1, 1, 4, 3, 1, 3, 4)])
