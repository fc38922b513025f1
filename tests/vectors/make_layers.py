#!/usr/bin/env python3
"""Writes reference vectors for layers, functions of modules, whole numbers and shapes, at the sizes where they end: no
batch, no elements, one element, five dims, views of the operands. tests/vectors/make_layers.py > FILE, then
burn-conformance FILE.

Results are computed with loops over the definitions, in doubles; gradients by central differences of those, so that a
formula is written once. See make_edges.py for functions of one and two numbers.
"""
import random

from vectors import *  # noqa: F403

FLOATS = ("f32", "f64", "f16", "bf16")


def floating(x):
    return x is not None and x.dtype in FLOATS


def layer(op, inputs, params, f, views=None, grads=None, dtype=None, tolerance=None):
    """One case: f(arrays, as the op sees them) -> its results, as doubles. grads: the inputs that have a gradient; None:
    every float."""
    views = views or [None] * len(inputs)
    wide = [Array(x.shape, x.data, "f64") if floating(x) else x for x in inputs]

    def run(arrays):
        return f(*[view_of(x, v) if x is not None else None for x, v in zip(arrays, views)])

    results = run(wide)
    given = dtype or next((x.dtype for x in inputs if floating(x)), None)
    outputs = [Array(y.shape, y.data, given if floating(y) and given else y.dtype) for y in results]
    grads = [i for i, x in enumerate(inputs) if floating(x)] if grads is None else grads
    grad = None
    if grads and given in ("f32", "f64") and (op[-2:] != "3d" or sum(len(x.data) for x in inputs if x) < 60):
        cotangents = [[round(math.sin(3 * k + j + 1), 3) for k in range(len(y.data))] if floating(y) else None
                      for j, y in enumerate(results)]

        def total(arrays):
            return sum(math.fsum(a * b for a, b in zip(c, y.data)) for c, y in zip(cotangents, run(arrays)) if c)

        listed = []
        for i in grads:
            slope = []
            for k in range(len(wide[i].data)):
                both = []
                for h in (1e-5, -1e-5):
                    moved = Array(wide[i].shape, wide[i].data, "f64")
                    moved.data[k] += h
                    both.append(total([moved if j == i else x for j, x in enumerate(wide)]))
                slope.append((both[0] - both[1]) / 2e-5)
            listed.append({"index": i, "shape": inputs[i].shape, "data": [plain(rounded(v, given), given) for v in slope]})
        grad = {"cotangents": [None if c is None else {"shape": y.shape, "data": c}
                               for c, y in zip(cotangents, results)], "inputs": listed}
    loose = {"f32": (3e-4, 3e-5), "f64": (1e-6, 1e-7), "f16": (4e-3, 4e-3), "bf16": (3e-2, 3e-2)}
    case(op, inputs, params, outputs, views=views, grad=grad,
         tolerance=tolerance or (loose[given] if given else None))


def some(shape, dtype="f32", seed=1, low=-2.0, high=2.0):
    r = random.Random(seed * 1000 + len(shape))
    return Array(shape, [r.uniform(low, high) for _ in range(math.prod(shape))], dtype)


def wide(shape, f):
    return build(shape, f, "f64")


# --- convolutions ------------------------------------------------------------------------------------------------------
def conv(x, w, b, p):
    d = len(x.shape) - 2
    begin, end = p["padding"], p.get("padding_end") or p["padding"]
    out = [(x.shape[2 + i] + begin[i] + end[i] - p["dilation"][i] * (w.shape[2 + i] - 1) - 1) // p["stride"][i] + 1
           for i in range(d)]
    per_group, outs = w.shape[1], w.shape[0] // p["groups"]

    def at(i):
        total = b.data[i[1]] if b else 0.0
        for c in range(per_group):
            for k in indices(w.shape[2:]):
                place = [i[2 + j] * p["stride"][j] + k[j] * p["dilation"][j] - begin[j] for j in range(d)]
                if all(0 <= q < n for q, n in zip(place, x.shape[2:])):
                    total += x.at([i[0], i[1] // outs * per_group + c] + place) * w.at([i[1], c] + list(k))
        return total

    return wide([x.shape[0], w.shape[0]] + out, at)


def conv_transpose(x, w, b, p):
    d = len(x.shape) - 2
    out = [(x.shape[2 + i] - 1) * p["stride"][i] - 2 * p["padding"][i] + p["dilation"][i] * (w.shape[2 + i] - 1) +
           p["padding_out"][i] + 1 for i in range(d)]
    per_group = w.shape[1]
    y = wide([x.shape[0], per_group * p["groups"]] + out, lambda i: b.data[i[1]] if b else 0.0)
    place = {i: k for k, i in enumerate(indices(y.shape))}
    ins = x.shape[1] // p["groups"]
    for i in indices(x.shape):
        for c in range(per_group):
            for k in indices(w.shape[2:]):
                to = tuple(i[2 + j] * p["stride"][j] + k[j] * p["dilation"][j] - p["padding"][j] for j in range(d))
                if all(0 <= q < n for q, n in zip(to, out)):
                    y.data[place[(i[0], i[1] // ins * per_group + c) + to]] += x.at(i) * w.at([i[1], c] + list(k))
    return y


def params(d, **given):
    p = {"stride": [1] * d, "padding": [0] * d, "dilation": [1] * d, "groups": 1}
    p.update(given)
    return p


for d, size in ((1, [7]), (2, [5, 4]), (3, [2, 3, 2])):
    variants = [
        (params(d), 2, 3, 2, 2), (params(d, stride=[2] * d, padding=[1] * d), 2, 2, 3, 1),
        (params(d, dilation=[2] * d, padding=[2] * d), 1, 2, 2, 1), (params(d, groups=2, padding=[1] * d), 4, 2, 3, 1),
        (params(d, groups=3, stride=[3] * d), 3, 3, 1, 2), (params(d), 2, 3, 1, 0), (params(d, padding=[3] * d), 1, 1, 2, 1),
    ]
    for p, c_in, c_out, k, n in variants[:4 if d == 3 else None]:
        k = min(k, min(size))
        x = some([n, c_in] + size)
        w = some([c_out, c_in // p["groups"]] + [k] * d, seed=2)
        b = some([c_out], seed=3)
        layer(f"conv{d}d", [x, w, b], p, lambda x, w, b, p=p: [conv(x, w, b, p)])
        layer(f"conv{d}d", [x, w, None], p, lambda x, w, b, p=p: [conv(x, w, None, p)], dtype=None)
        q = dict(p, padding_out=[p["stride"][i] - 1 for i in range(d)])
        q["padding"] = [min(v, k - 1) for v in p["padding"]]
        t = some([c_in, c_out // p["groups"] if c_out % p["groups"] == 0 else 1] + [k] * d, seed=4)
        b = some([t.shape[1] * p["groups"]], seed=5)
        layer(f"conv_transpose{d}d", [x, t, b], q, lambda x, w, b, q=q: [conv_transpose(x, w, b, q)])
    if d < 3:
        p = params(d, padding=[1] * d, padding_end=[2] * d)
        layer(f"conv{d}d", [some([1, 2] + size), some([2, 2] + [3] * d, seed=2), None], p,
              lambda x, w, b, p=p: [conv(x, w, None, p)])
    for dtype in ("f64", "f16", "bf16"):
        p = params(d, padding=[1] * d)
        layer(f"conv{d}d", [some([2, 2] + size, dtype), some([3, 2] + [3] * d, dtype, 2), some([3], dtype, 3)], p,
              lambda x, w, b, p=p: [conv(x, w, b, p)])
    view = {"permute": list(range(d + 1, -1, -1))}
    x = some(size[::-1] + [2, 2])
    p = params(d, padding=[1] * d)
    layer(f"conv{d}d", [x, some([3, 2] + [3] * d, seed=2), None], p, lambda x, w, b, p=p: [conv(x, w, None, p)],
          views=[view, None, None])


# --- pools -------------------------------------------------------------------------------------------------------------
def pooled_size(n, k, s, p, dilation, ceil):
    span = n + 2 * p - dilation * (k - 1) - 1
    out = (-(-span // s) if ceil else span // s) + 1
    return out - 1 if ceil and (out - 1) * s >= n + p else out


def max_pool(x, p):
    d = len(x.shape) - 2
    size = [pooled_size(x.shape[2 + i], p["kernel_size"][i], p["stride"][i], p["padding"][i], p["dilation"][i],
                        p["ceil_mode"]) for i in range(d)]

    def best(i):
        found = None
        for k in indices(p["kernel_size"]):
            q = [i[2 + j] * p["stride"][j] + k[j] * p["dilation"][j] - p["padding"][j] for j in range(d)]
            if not all(0 <= v < n for v, n in zip(q, x.shape[2:])):
                continue
            v, place = x.at(list(i[:2]) + q), 0
            for v_, n in zip(q, x.shape[2:]):
                place = place * n + v_
            if found is None or (math.isnan(v) and not math.isnan(found[0])) or v > found[0]:
                found = (v, place)
        return found

    shape = x.shape[:2] + size
    return [wide(shape, lambda i: best(i)[0]), build(shape, lambda i: best(i)[1], "i64")]


def avg_pool(x, p):
    d = len(x.shape) - 2
    size = [pooled_size(x.shape[2 + i], p["kernel_size"][i], p["stride"][i], p["padding"][i], 1, p["ceil_mode"])
            for i in range(d)]

    def mean(i):
        total, count = 0.0, 0
        for k in indices(p["kernel_size"]):
            q = [i[2 + j] * p["stride"][j] + k[j] - p["padding"][j] for j in range(d)]
            if all(0 <= v < n for v, n in zip(q, x.shape[2:])):
                total += x.at(list(i[:2]) + q)
                count += 1
            elif p["count_include_pad"] and all(v < n + pad for v, n, pad in zip(q, x.shape[2:], p["padding"])):
                count += 1
        return total / count

    return wide(x.shape[:2] + size, mean)


def unwrapped(p, d):
    return {k: (v[0] if d == 1 and isinstance(v, list) else v) for k, v in p.items()}


for d, size in ((1, [9]), (2, [5, 6]), (3, [3, 3, 4])):
    for k, s, pad, dilation, ceil in ((2, 2, 0, 1, False), (3, 1, 1, 1, False), (2, 1, 0, 2, False), (2, 3, 1, 1, True),
                                      (3, 2, 1, 1, True), (2, 2, 0, 1, True), (1, 1, 0, 1, False)):
        for n in (1, 0):
            p = {"kernel_size": [k] * d, "stride": [s] * d, "padding": [pad] * d, "dilation": [dilation] * d, "ceil_mode": ceil}
            x = some([n, 2] + size, seed=k + s)
            layer(f"max_pool{d}d", [x], unwrapped(p, d), lambda x, p=p: max_pool(x, p)[:1])
            if d < 3:
                layer(f"max_pool{d}d_with_indices", [x], unwrapped(p, d), lambda x, p=p: max_pool(x, p))
            if dilation == 1:
                for include in (True, False):
                    q = {"kernel_size": [k] * d, "stride": [s] * d, "padding": [pad] * d, "count_include_pad": include,
                         "ceil_mode": ceil}
                    layer(f"avg_pool{d}d", [x], unwrapped(q, d), lambda x, q=q: [avg_pool(x, q)])
    ties = Array([1, 1] + size, [float(v % 3) for v in range(math.prod(size))])
    p = {"kernel_size": [3] * d, "stride": [2] * d, "padding": [1] * d, "dilation": [1] * d, "ceil_mode": False}
    if d < 3:
        layer(f"max_pool{d}d_with_indices", [ties], unwrapped(p, d), lambda x, p=p: max_pool(x, p), grads=[])
    strange = Array([1, 1] + size, [(NAN, -INF, 1.0, INF, 2.0)[v % 5] for v in range(math.prod(size))])
    layer(f"max_pool{d}d", [strange], unwrapped(p, d), lambda x, p=p: max_pool(x, p)[:1], grads=[])
    for out in ([1] * d, [2] * d, size, [n + 2 for n in size]):
        for n in (1, 0):
            def window(i, x, out=out):
                return [x.at(list(i[:2]) + list(q)) for q in itertools.product(
                    *(range(j * m // o, -(-(j + 1) * m // o)) for j, m, o in zip(i[2:], x.shape[2:], out)))]
            q = {"output_size": out[0] if d == 1 else out}
            x = some([n, 2] + size, seed=7)
            layer(f"adaptive_avg_pool{d}d", [x], q,
                  lambda x, out=out: [wide(x.shape[:2] + out, lambda i: sum(window(i, x)) / len(window(i, x)))])
            layer(f"adaptive_max_pool{d}d", [x], q, lambda x, out=out: [wide(x.shape[:2] + out, lambda i: max(window(i, x)))])

# --- norms -------------------------------------------------------------------------------------------------------------
def normal(line, epsilon):
    m = math.fsum(line) / len(line)
    v = math.fsum((a - m) ** 2 for a in line) / len(line)
    return [(a - m) / math.sqrt(v + epsilon) for a in line]


for shape in ([3], [2, 1], [2, 1, 2, 2, 4], [0, 5], [1, 0, 3]):
    x, g, b = some(shape), some(shape[-1:], seed=2), some(shape[-1:], seed=3)
    f = lambda x, g, b: [along(x, -1, lambda l: [v * s + (b.data[k] if b else 0) for k, (v, s) in
                                                  enumerate(zip(normal(l, 1e-5), g.data))], "f64")]
    for op in ("layer_norm", "nn_layer_norm"):
        layer(op, [x, g, b], {"epsilon": 1e-5}, f)
        layer(op, [x, g, None], {"epsilon": 1e-5}, f)
far = Array([2, 4], [1000.0, 1001.0, 1002.0, 1003.0, -5e3, -5e3, -5e3, -5e3])
layer("layer_norm", [far, some([4], seed=2), None], {"epsilon": 1e-5}, f, grads=[], tolerance=(1e-3, 1e-3))
big = Array([1, 4096], [(-6.0, 6.0)[k % 2] for k in range(4096)], "f16")
layer("layer_norm", [big, Array([4096], [1.0] * 4096, "f16"), None], {"epsilon": 1e-5}, f)
for shape in ([2, 3], [0, 3], [1, 3, 2], [2, 3, 1, 2, 2], [2, 3, 0]):
    x = some(shape)
    stats = [some([3], seed=s) for s in (2, 3, 4)] + [some([3], seed=5, low=0.5)]
    layer("batch_norm", [x] + stats, {"epsilon": 1e-5},
          lambda x, g, b, m, v: [wide(x.shape, lambda i: (x.at(i) - m.data[i[1]]) / math.sqrt(v.data[i[1]] + 1e-5) *
                                      g.data[i[1]] + b.data[i[1]])])
for shape, groups in (([2, 4], 2), ([2, 4, 3], 4), ([1, 4, 2, 1, 2], 1), ([0, 4, 2], 2)):
    def grouped(x, g, b, groups=groups):
        n, c = x.shape[:2]
        flat = Array([n, groups, math.prod(x.shape[1:]) // groups], x.data, "f64")
        normed = Array(x.shape, along(flat, 2, lambda l: normal(l, 1e-5), "f64").data, "f64")
        return [wide(x.shape, lambda i: normed.at(i) * (g.data[i[1]] if g else 1) + (b.data[i[1]] if b else 0))]
    layer("nn_group_norm", [some(shape), some([4], seed=2), some([4], seed=3)], {"num_groups": groups, "epsilon": 1e-5}, grouped)
    layer("nn_group_norm", [some(shape), None, None], {"num_groups": groups, "epsilon": 1e-5}, grouped)


# --- attention ---------------------------------------------------------------------------------------------------------
def attention(q, k, v, mask, bias, p):
    n, m, e = q.shape[2], k.shape[2], v.shape[3]
    scale = p["scale"] if p["scale"] is not None else 1 / math.sqrt(q.shape[3])
    rows = {}
    for b, h, i in indices(q.shape[:3]):
        scores = []
        for j in range(m):
            s = scale * math.fsum(q.at([b, h, i, c]) * k.at([b, h, j, c]) for c in range(q.shape[3]))
            s = p["softcap"] * math.tanh(s / p["softcap"]) if p["softcap"] else s
            hidden = (mask and mask.at([b, h, i, j])) or (p["is_causal"] and j > i + m - n)
            scores.append(-INF if hidden else s + (bias.at([b, h, i, j]) if bias else 0))
        top = max(scores, default=-INF)
        weights = [0.0] * m if top == -INF else [math.exp(s - top) for s in scores]
        total = math.fsum(weights) or 1.0
        rows[b, h, i] = [sum(w * v.at([b, h, j, c]) for j, w in enumerate(weights)) / total for c in range(e)]
    return [wide(q.shape[:3] + [e], lambda i: rows[tuple(i[:3])][i[3]])]


for (b, h, n, m, d, e), masked, biased, p in (
        ((1, 2, 3, 4, 2, 3), True, True, {"scale": None, "softcap": None, "is_causal": False}),
        ((2, 1, 3, 3, 2, 2), False, False, {"scale": 0.3, "softcap": None, "is_causal": True}),
        ((1, 1, 4, 2, 2, 2), False, False, {"scale": None, "softcap": None, "is_causal": True}),  # rows that see nothing
        ((1, 1, 2, 5, 3, 2), True, False, {"scale": None, "softcap": 1.5, "is_causal": True}),
        ((0, 2, 3, 4, 2, 3), True, True, {"scale": None, "softcap": None, "is_causal": False}),
        ((1, 2, 0, 4, 2, 3), False, False, {"scale": None, "softcap": None, "is_causal": False}),
        ((1, 1, 1, 1, 1, 1), False, False, {"scale": None, "softcap": None, "is_causal": True})):
    q, k, v = some([b, h, n, d]), some([b, h, m, d], seed=2), some([b, h, m, e], seed=3)
    mask = build([b, h, n, m], lambda i: (i[2] + i[3]) % 3 == 0 or i[2] == 1, "bool") if masked else None
    bias = some([b, h, n, m], seed=4) if biased else None
    layer("attention", [q, k, v, mask, bias], p, lambda q, k, v, a, c, p=p: attention(q, k, v, a, c, p))
    for dtype in ("f16", "bf16"):
        half = [some(x.shape, dtype, s) if x else None for x, s in ((q, 1), (k, 2), (v, 3))]
        layer("attention", half + [mask, None], p, lambda q, k, v, a, c, p=p: attention(q, k, v, a, c, p))
q, k, v = some([3, 2, 2, 2]), some([2, 4, 2, 2], seed=2), some([2, 2, 4, 3], seed=3)
p = {"scale": None, "softcap": None, "is_causal": False}
layer("attention", [q, k, v, None, None], p, lambda q, k, v, a, c: attention(q, k, v, a, c, p),
      views=[{"permute": [3, 1, 0, 2]}, {"permute": [0, 3, 1, 2]}, None, None, None])

# --- losses over nothing and over one ----------------------------------------------------------------------------------
def reduce_to(values, shape, reduction):
    if reduction == "none":
        return [Array(shape, values, "f64")]
    total = math.fsum(values)
    return [Array([1], [total if reduction == "sum" else total / len(values) if values else NAN], "f64")]


LOSSES = [
    ("loss_mse", {}, lambda x, t: (x - t) ** 2), ("loss_lp", {"p": 3.0}, lambda x, t: abs(x - t) ** 3),
    ("loss_huber", {"delta": 0.7}, lambda x, t: 0.5 * (x - t) ** 2 if abs(x - t) <= 0.7 else 0.7 * (abs(x - t) - 0.35)),
    ("loss_smooth_l1", {"beta": 0.6}, lambda x, t: 0.5 * (x - t) ** 2 / 0.6 if abs(x - t) < 0.6 else abs(x - t) - 0.3),
]
for op, given, f in LOSSES:
    for shape in ([3], [2, 1, 2, 1, 2], [0], [2, 0], [1]):
        for reduction in ("none", "mean", "sum"):
            layer(op, [some(shape), some(shape, seed=2)], dict(given, reduction=reduction),
                  lambda x, t, f=f, r=reduction: reduce_to([f(a, b) for a, b in zip(x.data, t.data)], x.shape, r),
                  grads=None if shape[0] and math.prod(shape) else [])

# --- whole numbers -----------------------------------------------------------------------------------------------------
def wrapped(v, bits, signed=True):
    v %= 2 ** bits
    return v - 2 ** bits if signed and v >= 2 ** (bits - 1) else v


INTS = {"i64": (64, True), "i32": (32, True), "u8": (8, False)}
for dtype, (bits, signed) in INTS.items():
    low, high = (-2 ** (bits - 1), 2 ** (bits - 1) - 1) if signed else (0, 2 ** bits - 1)
    a = Array([6, 1], [0, 1, high, low, high - 1, 5], dtype)
    b = Array([1, 5], [1, 3, high, low, 2], dtype)
    pair = lambda f: build([6, 5], lambda i: wrapped(f(a.at([i[0], 0]), b.at([0, i[1]])), bits, signed), dtype)
    for op, f in (("bitwise_and", lambda x, y: x & y), ("bitwise_or", lambda x, y: x | y), ("bitwise_xor", lambda x, y: x ^ y),
                  ("add", lambda x, y: x + y), ("sub", lambda x, y: x - y), ("mul", lambda x, y: x * y),
                  ("max_pair", max), ("min_pair", min)):
        case(op, [a, b], {}, [pair(f)])
    for op, f in (("bitwise_and", lambda x: x & 6), ("bitwise_or", lambda x: x | 6), ("bitwise_xor", lambda x: x ^ 6),
                  ("add", lambda x: x + 6), ("sub", lambda x: x - 6), ("mul", lambda x: x * 6)):
        case(op + "_scalar", [a], {"scalar": 6}, [Array(a.shape, [wrapped(f(v), bits, signed) for v in a.data], dtype)])
    case("bitwise_not", [a], {}, [Array(a.shape, [wrapped(~v, bits, signed) for v in a.data], dtype)])
    shifts = Array([1, 3], [0, 1, bits - 1], dtype)
    case("bitwise_left_shift", [a, shifts], {},
         [build([6, 3], lambda i: wrapped(a.at([i[0], 0]) << shifts.at([0, i[1]]), bits, signed), dtype)])
    case("bitwise_right_shift", [a, shifts], {}, [build([6, 3], lambda i: a.at([i[0], 0]) >> shifts.at([0, i[1]]), dtype)])
    for k in (0, 1, bits - 1):
        case("bitwise_left_shift_scalar", [a], {"scalar": k}, [Array(a.shape, [wrapped(v << k, bits, signed) for v in a.data], dtype)])
        case("bitwise_right_shift_scalar", [a], {"scalar": k}, [Array(a.shape, [v >> k for v in a.data], dtype)])
    if signed:
        x, y = Array([6, 1], [7, -7, 6, -6, 1, 0], dtype), Array([1, 4], [2, -2, 3, -5], dtype)
        cut = lambda p, q: abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1)
        case("div", [x, y], {}, [build([6, 4], lambda i: cut(x.at([i[0], 0]), y.at([0, i[1]])), dtype)])
        case("remainder", [x, y], {}, [build([6, 4], lambda i: x.at([i[0], 0]) % y.at([0, i[1]]), dtype)])
        for k in (2, -2, 3, -5):
            case("div_scalar", [x], {"scalar": k}, [Array(x.shape, [cut(v, k) for v in x.data], dtype)])
            case("remainder_scalar", [x], {"scalar": k}, [Array(x.shape, [v % k for v in x.data], dtype)])
        case("neg", [a], {}, [Array(a.shape, [wrapped(-v, bits) for v in a.data], dtype)])
        case("abs", [a], {}, [Array(a.shape, [wrapped(abs(v), bits) for v in a.data], dtype)])
        case("sign", [x], {}, [Array(x.shape, [(v > 0) - (v < 0) for v in x.data], dtype)])
    base, power = Array([4, 1], [0, 1, 3, 2], dtype), Array([1, 4], [0, 1, 2, 5], dtype)
    case("powi", [base, power], {}, [build([4, 4], lambda i: wrapped(base.at([i[0], 0]) ** power.at([0, i[1]]), bits, signed), dtype)])
    for op, f in (("sum", sum), ("prod", math.prod), ("max", max), ("min", min), ("mean", lambda l: math.trunc(sum(l) / len(l)))):
        x = Array([2, 3], [3, 1, 4, 1, 5, 9], dtype)
        case(op, [x], {}, [Array([1], [wrapped(f(x.data), bits, signed)], dtype)])
        case(op + "_dim", [x], {"dim": -1}, [reduced(x, 1, lambda l: wrapped(f(l), bits, signed))])
    x = Array([2, 4], [3, 1, 2, 1, 9, 9, 0, 5], dtype)
    case("cumsum", [x], {"dim": 1}, [along(x, 1, lambda l: list(itertools.accumulate(l)))])
    case("sort", [x], {"dim": 1}, [along(x, 1, sorted)])
    case("sort_descending", [x], {"dim": 1}, [along(x, 1, lambda l: sorted(l, reverse=True))])
    case("topk", [x], {"k": 2, "dim": 1}, [along(x, 1, lambda l: sorted(l, reverse=True)[:2])])
    case("argmax", [x], {"dim": 1}, [reduced(x, 1, lambda l: l.index(max(l)), "i64")])
    case("clamp", [x], {"min": 1, "max": 4}, [Array(x.shape, [min(max(v, 1), 4) for v in x.data], dtype)])
    for scalar in (2.5, -1, 3, 1e30, -INF):
        for op, f in (("greater", lambda v: v > scalar), ("lower_equal", lambda v: v <= scalar), ("equal", lambda v: v == scalar)):
            case(op + "_scalar", [x], {"scalar": scalar}, [Array(x.shape, [f(v) for v in x.data], "bool")])
    case("one_hot", [Array([3], [2, 0, 1], dtype)], {"num_classes": 3}, [Array([3, 3], [0, 0, 1, 1, 0, 0, 0, 1, 0], dtype)])
    case("float", [x], {}, [Array(x.shape, x.data)])
    case("bool", [x], {}, [Array(x.shape, [v != 0 for v in x.data], "bool")])
    none = Array([2, 0], [], dtype)
    for op in ("add", "mul", "bitwise_and", "max_pair"):
        case(op, [none, none], {}, [none])
    case("sum_dim", [none], {"dim": 1}, [Array([2, 1], [0, 0], dtype)])
    case("prod_dim", [none], {"dim": 1}, [Array([2, 1], [1, 1], dtype)])
t, f = Array([4, 1], [0, 0, 1, 1], "bool"), Array([1, 2], [0, 1], "bool")
for op, g in (("bool_and", lambda x, y: x and y), ("bool_or", lambda x, y: x or y), ("bool_xor", lambda x, y: x != y)):
    case(op, [t, f], {}, [build([4, 2], lambda i: g(t.at([i[0], 0]), f.at([0, i[1]])), "bool")])
    case(op, [Array([0, 1], [], "bool"), f], {}, [Array([0, 2], [], "bool")])
case("bool_not", [t], {}, [Array([4, 1], [1, 1, 0, 0], "bool")])

# --- shapes ------------------------------------------------------------------------------------------------------------
x5 = some([2, 3, 1, 2, 2])
empty = Array([2, 0, 3], [])


def shape_case(op, x, p, shape, source, view=None):
    layer(op, [x], p, lambda x: [wide(shape, lambda i: x.at(source(i)))], views=[view])


shape_case("t", x5, {}, [2, 3, 1, 2, 2], lambda i: list(i[:3]) + [i[4], i[3]])
shape_case("movedim", x5, {"src": [0, -1], "dst": [1, 0]}, [2, 2, 3, 1, 2], lambda i: [i[1], i[2], i[3], i[4], i[0]])
shape_case("roll", x5, {"shifts": [1, -4, 5], "dims": [1, 0, 1]}, x5.shape,
           lambda i: [(i[0] - 4) % 2, (i[1] + 6) % 3, i[2], i[3], i[4]])
shape_case("select_dim", x5, {"dim": -2, "index": -1}, [2, 3, 1, 2], lambda i: list(i[:3]) + [1, i[3]])
shape_case("slice_dim", x5, {"dim": 1, "slice": [-3, None, -2]}, [2, 2, 1, 2, 2], lambda i: [i[0], 2 - 2 * i[1]] + list(i[2:]))
shape_case("repeat", x5, {"sizes": [1, 2, 3, 1, 1]}, [2, 6, 3, 2, 2], lambda i: [i[0], i[1] % 3, 0, i[3], i[4]])
shape_case("unsqueeze", some([2, 2]), {"rank": 5}, [1, 1, 1, 2, 2], lambda i: i[3:])
shape_case("unsqueeze_dims", some([2, 2]), {"dims": [0, -1, 2]}, [1, 2, 1, 2, 1], lambda i: [i[1], i[3]])
shape_case("squeeze_dims", some([1, 2, 1, 3, 1]), {"dims": [0, -1]}, [2, 1, 3], lambda i: [0, i[0], i[1], i[2], 0])
shape_case("squeeze", some([1, 2, 1, 3, 1]), {}, [2, 3], lambda i: [0, i[0], 0, i[1], 0])
case("roll", [empty], {"shifts": [3], "dims": [0]}, [empty])
case("repeat", [empty], {"sizes": [2, 5, 1]}, [Array([4, 0, 3], [])])
case("repeat", [some([2, 2])], {"sizes": [0, 2]}, [Array([0, 4], [])])
case("movedim", [empty], {"src": [0], "dst": [2]}, [Array([0, 3, 2], [])])
case("select_dim", [empty], {"dim": 0, "index": 1}, [Array([0, 3], [])])
for n, size in ((5, 2), (6, 3), (4, 7), (1, 1)):
    x = some([2, n])
    ends = list(range(0, n, size))
    layer("split", [x], {"split_size": size, "dim": 1},
          lambda x, ends=ends, size=size: [wide([2, min(size, n - e)], lambda i, e=e: x.at([i[0], e + i[1]])) for e in ends])
    parts = -(-n // size)
    step = -(-n // parts)
    layer("chunk", [x], {"chunks": parts, "dim": -1},
          lambda x, step=step: [wide([2, min(step, n - e)], lambda i, e=e: x.at([i[0], e + i[1]])) for e in range(0, n, step)])
layer("split_with_sizes", [x5], {"sizes": [0, 2, 1], "dim": 1},
      lambda x: [wide([2, k, 1, 2, 2], lambda i, b=b: x.at([i[0], b + i[1]] + list(i[2:]))) for b, k in ((0, 0), (0, 2), (2, 1))])
base = some([2, 5])
layer("slice_assign", [base, some([2, 2], seed=2)], {"slices": [[0, 2, 1], [1, 5, -2]]},
      lambda x, v: [wide([2, 5], lambda i: v.at([i[0], {4: 0, 2: 1}[i[1]]]) if i[1] in (2, 4) else x.at(i))])
layer("slice_fill", [base], {"slices": [[-1, None, 1], [0, 4, 3]], "value": 7.5},
      lambda x: [wide([2, 5], lambda i: 7.5 if i[0] == 1 and i[1] in (0, 3) else x.at(i))])
case("slice_fill", [base], {"slices": [[0, 0, 1]], "value": 7.5}, [base])
for shape, offset in (([0, 3], 0), ([3, 0], 1), ([4, 2], -5), ([2, 4], 9), ([1, 1], 0), ([3, 3], -1)):
    for op, f in (("tril_mask", lambda i: i[1] - i[0] > offset), ("triu_mask", lambda i: i[1] - i[0] < offset),
                  ("diag_mask", lambda i: i[1] - i[0] != offset)):
        case(op, [], {"shape": shape, "offset": offset}, [build(shape, f, "bool")])
case("arange", [], {"start": -3, "end": -3}, [Array([0], [], "i64")])
case("arange_step", [], {"start": -7, "end": 8, "step": 4}, [Array([4], [-7, -3, 1, 5], "i64")])
case("eye", [], {"size": 0}, [Array([0, 0], [])])
case("zeros", [], {"shape": [2, 0], "dtype": "f16"}, [Array([2, 0], [], "f16")])
case("full", [], {"shape": [3], "dtype": "bf16", "value": NAN}, [Array([3], [NAN] * 3, "bf16")])
case("full_like", [empty], {"value": 3}, [empty])
case("cartesian_grid", [], {"shape": [2, 0]}, [Array([2, 0, 2], [], "i64")])
case("cartesian_grid", [], {"shape": [2, 1, 2, 1]}, [Array([2, 1, 2, 1, 4], [v for i in indices([2, 1, 2, 1]) for v in i], "i64")])

# --- axes --------------------------------------------------------------------------------------------------------------
ROW_REDUCTIONS = {"sum_dims": math.fsum, "mean_dims": lambda l: math.fsum(l) / len(l) if l else NAN, "prod_dims": math.prod,
                  "max_dims": max, "min_dims": min, "max_abs_dims": lambda l: max(map(abs, l))}
for op, f in ROW_REDUCTIONS.items():
    for dims in ([0, -1], [1], [-2, 2, 0], [0, 1, 2, 3, 4]):
        axes = {d % 5 for d in dims}

        def over(x, axes=axes, f=f):
            shape = [1 if k in axes else n for k, n in enumerate(x.shape)]
            return [wide(shape, lambda i: f([x.at([j if k in axes else i[k] for k, j in enumerate(full)]) for full in
                                             indices([n if k in axes else 1 for k, n in enumerate(x.shape)])]))]
        layer(op, [x5], {"dims": dims}, over)
        layer(op, [x5], {"dims": dims}, over, views=[{"permute": [1, 0, 4, 3, 2]}])
        for dtype in ("f16", "bf16"):
            layer(op, [some(x5.shape, dtype)], {"dims": dims}, over)
layer("sum_dims_squeeze", [x5], {"dims": [0, -1]},
      lambda x: [wide([3, 1, 2], lambda i: sum(x.at([a, i[0], i[1], i[2], b]) for a in range(2) for b in range(2)))])
for op, correction in (("var_mean", 1), ("var_mean_bias", 0)):
    def moments(x, dim=1, c=correction):
        m = reduced(x, dim, lambda l: math.fsum(l) / len(l), "f64")
        return [reduced(x, dim, lambda l: math.fsum((v - math.fsum(l) / len(l)) ** 2 for v in l) / (len(l) - c), "f64"), m]
    layer(op, [x5], {"dim": 1}, moments)
    layer(op, [x5], {"dim": 1}, moments, views=[{"permute": [4, 1, 0, 2, 3]}])
    case(op, [Array([0, 3], [])], {"dim": 1}, [Array([0, 1], []), Array([0, 1], [])])
case("max_abs", [Array([3], [-5, 2, NAN])], {}, [Array([1], [NAN])])
case("max_abs", [Array([3], [-INF, 2, 1])], {}, [Array([1], [INF])])
case("median_with_indices", [Array([2, 4], [3, 1, 2, 0, NAN, 1, 2, 3])], {"dim": 1}, [Array([2, 1], [1, NAN]), Array([2, 1], [1, 0], "i64")])
for shape, dim in (([4, 3], 0), ([3, 4], 1), ([2, 1], 0), ([1, 3], 1)):
    for c in (0, 1):
        def covariance(x, dim=dim, c=c):
            rows = [[x.at([i, j] if dim == 1 else [j, i]) for j in range(x.shape[dim])] for i in range(x.shape[1 - dim])]
            means = [math.fsum(r) / len(r) for r in rows]
            v = len(rows)
            return [wide([v, v], lambda i: math.fsum((a - means[i[0]]) * (b - means[i[1]]) for a, b in zip(rows[i[0]], rows[i[1]])) /
                         (x.shape[dim] - c))]
        layer("cov", [some(shape)], {"dim": dim, "correction": c}, covariance)
def argtop(line, k):
    return sorted(range(len(line)), key=lambda i: -line[i])[:k]


case("argtopk", [x5], {"k": 1, "dim": 3}, [along(x5, 3, lambda l: argtop(l, 1), "i64")])
close = Array([7], [1, 1 + 1e-6, NAN, INF, -INF, 0, 1e8]), Array([7], [1, 1, NAN, INF, INF, 1e-9, 1e8 + 8])
case("is_close", list(close), {"rtol": 1e-5, "atol": 1e-8}, [Array([7], [1, 1, 0, 1, 0, 1, 1], "bool")])
case("all_close", [Array([0], []), Array([0], [])], {"rtol": 1e-5, "atol": 1e-8}, [Array([1], [1], "bool")])
case("all_close", list(close), {"rtol": 1e-5, "atol": 1e-8}, [Array([1], [0], "bool")])
def cross(x, y, dim):
    def at(i):
        k = i[dim]
        place = lambda j: list(i[:dim]) + [(k + j) % 3] + list(i[dim + 1:])
        return x.at(place(1)) * y.at(place(2)) - x.at(place(2)) * y.at(place(1))
    return [wide(x.shape, at)]


layer("cross", [x5, some(x5.shape, seed=2)], {"dim": 1}, lambda x, y: cross(x, y, 1))
layer("cross", [some([3, 2]), some([2, 3], seed=2)], {"dim": -2}, lambda x, y: cross(x, y, 0), views=[None, {"permute": [1, 0]}])
case("cross", [Array([0, 3], []), Array([0, 3], [])], {"dim": 1}, [Array([0, 3], [])])

# --- products and matrices ---------------------------------------------------------------------------------------------
def einsum(equation, *xs):
    left, right = equation.split("->")
    labels = left.split(",")
    sizes = {c: n for l, x in zip(labels, xs) for c, n in zip(l, x.shape)}
    inner = [c for c in sizes if c not in right]

    def at(i):
        where = dict(zip(right, i))
        return math.fsum(math.prod(x.at([({**where, **dict(zip(inner, j))})[c] for c in l]) for l, x in zip(labels, xs))
                         for j in indices([sizes[c] for c in inner]))
    return [wide([sizes[c] for c in right] or [1], at if right else lambda i: at(()))]


for equation, shapes in (("ij,jk->ik", [[2, 3], [3, 2]]), ("ij,jk->ik", [[2, 0], [0, 3]]), ("ij,jk->ki", [[0, 3], [3, 2]]),
                         ("bij,bjk->bik", [[2, 2, 3], [2, 3, 2]]), ("ii->i", [[3, 3]]), ("ii->", [[3, 3]]), ("ij->ji", [[2, 3]]),
                         ("ij->", [[2, 3]]), ("i,j->ij", [[2], [3]]), ("bhid,bhjd->bhij", [[1, 2, 2, 3], [1, 2, 3, 3]]),
                         ("abcde,e->abcd", [[2, 1, 2, 1, 3], [3]]), ("ij,jk,kl->il", [[2, 3], [3, 2], [2, 2]]), ("i,i->", [[4], [4]]),
                         ("ijk,ijk->j", [[2, 3, 2], [2, 3, 2]]), ("iij->ij", [[2, 2, 3]]),
                         ("a,b,c,d->abcd", [[2], [1], [3], [2]]), ("abcde,abcde->ace", [[2, 1, 2, 2, 1]] * 2)):
    inputs = [some(s, seed=k + 1) for k, s in enumerate(shapes)]
    layer("einsum", inputs, {"equation": equation}, lambda *xs, e=equation: einsum(e, *xs))
left, right = some([2, 3]), some([3, 2], seed=2)
layer("einsum", [left, right], {"equation": "kj,ji"}, lambda x, y: einsum("kj,ji->ik", x, y))  # no arrow: alphabetical
layer("einsum", [some([2, 2, 3]), some([2, 3, 2], seed=2)], {"equation": "...ij,...jk->...ik"},
      lambda x, y: einsum("bij,bjk->bik", x, y))
views = [{"permute": [1, 0]}, {"expand": [3, 2]}]
layer("einsum", [some([3, 2]), some([1, 2], seed=2)], {"equation": "ij,jk->ik"}, lambda *xs: einsum("ij,jk->ik", *xs), views=views)
for shape in ([2, 2], [3, 1, 2, 2, 3], [0, 2, 2], [2, 0, 3], [4, 2]):
    m = min(shape[-2:])
    layer("diag", [some(shape)], {}, lambda x, m=m: [wide(x.shape[:-2] + [m], lambda i: x.at(list(i) + [i[-1]]))])
    layer("trace", [some(shape)], {}, lambda x, m=m: [wide(x.shape[:-2] + [1], lambda i: sum(x.at(list(i[:-1]) + [k, k]) for k in range(m)))])
for a, b in (([2], [3]), ([0], [3]), ([2, 1, 2], [2, 1, 3])):
    layer("outer", [some(a), some(b, seed=2)], {}, lambda x, y: [wide(x.shape + y.shape[-1:], lambda i: x.at(i[:-1]) * y.at(list(i[:-2]) + [i[-1]]))])
for a, b in (([2, 3], [3]), ([0, 3], [3]), ([2, 0], [0]), ([2, 1, 2, 3], [2, 1, 3])):
    layer("matvec", [some(a), some(b, seed=2)], {},
          lambda x, y: [wide(x.shape[:-1], lambda i: math.fsum(x.at(list(i) + [k]) * y.at(list(i[:-1]) + [k]) for k in range(y.shape[-1])))])


def solved(a, b):
    """Gauss with partial pivoting, in doubles."""
    n, k = a.shape[-1], b.shape[-1]
    columns = {}
    for lead in indices(a.shape[:-2]):
        rows = [[a.at(list(lead) + [i, j]) for j in range(n)] + [b.at(list(lead) + [i, j]) for j in range(k)] for i in range(n)]
        for c in range(n):
            p = max(range(c, n), key=lambda r: abs(rows[r][c]))
            rows[c], rows[p] = rows[p], rows[c]
            for r in range(n):
                if r != c:
                    s = rows[r][c] / rows[c][c]
                    rows[r] = [v - s * w for v, w in zip(rows[r], rows[c])]
        columns[lead] = [[rows[i][n + j] / rows[i][i] for j in range(k)] for i in range(n)]
    return [wide(b.shape, lambda i: columns[tuple(i[:-2])][i[-2]][i[-1]])]


def determinant(a):
    if a == []:
        return 1.0
    return sum((-1) ** j * a[0][j] * determinant([r[:j] + r[j + 1:] for r in a[1:]]) for j in range(len(a)))


def well(shape, seed=1):
    x = some(shape, seed=seed)
    n = shape[-1]
    return Array(shape, [v + (4 if k % (n * n) % (n + 1) == 0 else 0) for k, v in enumerate(x.data)])


for lead in ([], [2], [0], [2, 1, 2]):
    for n in (1, 3):
        a = well(lead + [n, n])
        layer("solve", [a, some(lead + [n, 2], seed=2)], {}, lambda a, b: solved(a, b))
        layer("inverse", [a], {}, lambda a: solved(a, wide(a.shape, lambda i: float(i[-1] == i[-2]))))
        if lead:
            layer("det", [a], {}, lambda a, n=n: [wide(a.shape[:-2], lambda i: determinant(
                [[a.at(list(i) + [r, c]) for c in range(n)] for r in range(n)]))])
case("det", [Array([2, 0, 0], [])], {}, [Array([2], [1, 1])])
case("inverse", [Array([2, 0, 0], [])], {}, [Array([2, 0, 0], [])])
case("solve", [Array([0, 0], []), Array([0, 2], [])], {}, [Array([0, 2], [])])
case("solve", [well([2, 2]), Array([2, 0], [])], {}, [Array([2, 0], [])])
case("cholesky", [Array([0, 2, 2], [])], {}, [Array([0, 2, 2], [])])
case("cholesky", [Array([1, 1], [9])], {}, [Array([1, 1], [3])])
case("svd", [Array([0, 2, 3], [])], {}, [Array([0, 2], [])])
case("svd", [Array([2, 2], [0] * 4)], {}, [Array([2], [0, 0])])
case("lu", [Array([0, 2, 2], [])], {}, [Array([0, 2, 2], [])] * 3)
case("qr", [Array([0, 3, 2], [])], {"reduced": True}, [Array([0, 3, 2], []), Array([0, 2, 2], [])])

# --- transforms --------------------------------------------------------------------------------------------------------
def dft(re, im, n, dim, inverse=False):
    def one(part):
        def f(i):
            total = 0.0
            for j in range(min(n, re.shape[dim])):
                place = list(i[:dim]) + [j] + list(i[dim + 1:])
                angle = -2 * math.pi * j * i[dim] / n
                a, b = re.at(place), im.at(place) if im else 0.0
                total += a * math.cos(angle) - b * math.sin(angle) if part == 0 else a * math.sin(angle) + b * math.cos(angle)
            return total
        return f
    return one(0), one(1)


for shape, dim, n in (([8], 0, None), ([2, 4], 1, 8), ([4, 2], 0, 2), ([0, 4], 1, None), ([2, 1, 4, 1, 2], 2, None), ([1], 0, None)):
    size = n or shape[dim]
    half = shape[:dim] + [size // 2 + 1] + shape[dim + 1:]
    full = shape[:dim] + [size] + shape[dim + 1:]
    layer("rfft", [some(shape)], {"dim": dim, "n": n},
          lambda x, half=half, size=size, dim=dim: [wide(half, f) for f in dft(x, None, size, dim)])
    layer("cfft", [some(shape), some(shape, seed=2)], {"dim": dim, "n": n},
          lambda x, y, full=full, size=size, dim=dim: [wide(full, f) for f in dft(x, y, size, dim)])
