#!/usr/bin/env python3
"""Writes reference vectors for the edges of the tensor API: NaN and infinities, ties, dims of size 0, rank 5 and more,
views, large reductions, 16-bit floats. tests/vectors/make_edges.py > FILE, then burn-conformance FILE.

Expected numbers are computed here with Python's doubles from the definitions, where PyTorch's meaning decides: what is
NaN, which of equals wins, what an empty reduction gives. Layers and functions of modules are in make_layers.py.
"""
from vectors import *  # noqa: F403


# --- element by element ------------------------------------------------------------------------------------------------
def sinh(x):
    return math.copysign(INF, x) if abs(x) > 711 else math.sinh(x)


def signed_zero(f):
    return lambda x: x if math.isnan(x) or math.isinf(x) else f(x)


def periodic(f):
    return lambda x: NAN if math.isinf(x) else f(x)


def log(x):
    return NAN if x < 0 or math.isnan(x) else -INF if x == 0 else math.log(x)


def sigmoid(x):
    return NAN if math.isnan(x) else 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x)) if x > -745 else 0


def softplus(x):
    return NAN if math.isnan(x) else x if x > 30 else guarded(lambda: math.log1p(math.exp(x)))


def passes_nan(f):
    return lambda x: NAN if math.isnan(x) else f(x)


UNARY = {
    "abs": abs, "neg": lambda x: -x, "square": lambda x: guarded(lambda: x * x),
    "exp": lambda x: guarded(math.exp, x), "log": log,
    "log1p": lambda x: NAN if math.isnan(x) or x < -1 else -INF if x == -1 else math.log1p(x),
    "sqrt": lambda x: guarded(math.sqrt, x), "recip": lambda x: math.copysign(INF, x) if x == 0 else 1 / x,
    "erf": math.erf, "sin": periodic(math.sin), "cos": periodic(math.cos), "tan": periodic(math.tan), "sinh": sinh,
    "cosh": lambda x: INF if abs(x) > 711 else math.cosh(x), "tanh": math.tanh,
    "asin": lambda x: guarded(math.asin, x), "acos": lambda x: guarded(math.acos, x), "atan": math.atan,
    "asinh": math.asinh, "acosh": lambda x: guarded(math.acosh, x),
    "atanh": lambda x: math.copysign(INF, x) if abs(x) == 1 else guarded(math.atanh, x),
    "floor": signed_zero(math.floor), "ceil": signed_zero(math.ceil), "round": signed_zero(round),
    "trunc": signed_zero(math.trunc), "deg2rad": math.radians, "rad2deg": lambda x: guarded(lambda: x * (180 / math.pi)),
    "relu": passes_nan(lambda x: max(x, 0)), "relu6": passes_nan(lambda x: min(max(x, 0), 6)), "sigmoid": sigmoid,
    "softsign": lambda x: x / (1 + abs(x)) if not math.isinf(x) else NAN,
    "selu": passes_nan(lambda x: 1.0507009873554805 * (x if x > 0 else 1.6732632423543772 * math.expm1(x))),
    "log_sigmoid": passes_nan(lambda x: min(x, 0) - math.log1p(math.exp(-abs(x)))),
    "hard_swish": lambda x: NAN if math.isnan(x) or x == -INF else x * min(max(x + 3, 0), 6) / 6,
    "tanhshrink": lambda x: x - math.tanh(x),
    "is_nan": math.isnan, "is_inf": math.isinf, "is_finite": math.isfinite,
}
STEPS = ("floor", "ceil", "round", "trunc")


def slopes(x, view, f):
    """The gradient of sum(cotangent * f(view of x)), by central differences in double."""
    places = view_of(Array(x.shape, range(len(x.data)), "i64"), view)
    cotangent = [round(math.sin(k + 1), 3) for k in range(len(places.data))]
    gradient = [0.0] * len(x.data)
    for c, place in zip(cotangent, places.data):
        v, h = x.data[place], 1e-6
        gradient[place] += c * (f(v + h) - f(v - h)) / (2 * h)
    return {"cotangents": [{"shape": places.shape, "data": cotangent}],
            "inputs": [{"index": 0, "shape": x.shape, "data": [rounded(g, "f32") for g in gradient]}]}


TESTS = ("is_nan", "is_inf", "is_finite")
# x times something that is 0 at -inf: NaN there, as in PyTorch.
def gelu(x):
    return NAN if x == -INF else x * 0.5 * (1 + math.erf(x / math.sqrt(2)))


def mish(x):
    return NAN if x == -INF else x * math.tanh(softplus(x))


UNARY.update({"gelu": gelu, "mish": mish, "silu": lambda x: NAN if x == -INF else x * sigmoid(x)})
SPECIAL = [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1e-30, 80.0, -80.0, 1e10, -1e10]
for op, f in UNARY.items():
    for dtype in ("f32", "f64", "f16", "bf16"):
        periodic_op = op in ("sin", "cos", "tan")
        points = [v for v in SPECIAL if not (periodic_op and abs(v) > 100 and math.isfinite(v))]
        x = Array([len(points)], points, dtype)
        if op in ("sinh", "cosh", "exp", "square", "rad2deg") and dtype in ("f32", "f16", "bf16"):
            x = Array([len(points)], [v if abs(v) < 50 or math.isinf(v) or math.isnan(v) else 1e5 for v in points], dtype)
        result = [f(v) for v in x.data]
        case(op, [x], {}, [Array(x.shape, result, "bool" if op in TESTS else dtype)],
             tolerance=(0, 0) if op in TESTS else None)
    for shape, view in (([2, 1, 3, 2, 2], {"permute": [4, 2, 0, 3, 1]}), ([0], None), ([2, 0, 3, 1, 2], None),
                        ([1, 1, 2, 1, 1, 3], {"expand": [2, 1, 2, 2, 1, 3]}), ([3, 4], {"slice": [[0, 3, 2], [1, 4]]})):
        x = ramp(shape, scale=0.013, start=0.11)
        if op == "acosh":
            x = ramp(shape, scale=0.1, start=1.2)
        seen = view_of(x, view)
        out = Array(seen.shape, [f(v) for v in seen.data], "bool" if op in TESTS else "f32")
        smooth = op not in TESTS and op not in STEPS and x.data
        case(op, [x], {}, [out], views=[view], grad=slopes(x, view, f) if smooth else None,
             tolerance=(2e-4, 2e-5) if smooth else None)

PARAMETRIC = [
    ("leaky_relu", {"negative_slope": 0.1}, lambda x: x if x > 0 else 0.1 * x),
    ("hardtanh", {"min": -1.0, "max": 2.0}, lambda x: min(max(x, -1), 2)),
    ("elu", {"alpha": 1.5}, lambda x: x if x > 0 else 1.5 * math.expm1(x)),
    ("celu", {"alpha": 1.5}, lambda x: max(x, 0) + min(0, 1.5 * math.expm1(x / 1.5))),
    ("threshold", {"threshold": 0.2, "value": -7.0}, lambda x: x if x > 0.2 else -7),
    ("hard_sigmoid", {"alpha": 0.2, "beta": 0.5}, lambda x: min(max(0.2 * x + 0.5, 0), 1)),
    ("softplus", {"beta": 2.0}, lambda x: softplus(2 * x) / 2),
    ("clamp", {"min": -1.0, "max": 2.0}, lambda x: min(max(x, -1), 2)),
    ("clamp_min", {"min": -1.0}, lambda x: max(x, -1)),
    ("clamp_max", {"max": 2.0}, lambda x: min(x, 2)),
    ("add_scalar", {"scalar": INF}, lambda x: x + INF),
    ("mul_scalar", {"scalar": 0}, lambda x: x * 0),
    ("div_scalar", {"scalar": 0.5}, lambda x: x / 0.5),
    ("scalar_div", {"scalar": 1.0}, lambda x: math.copysign(INF, x) if x == 0 else 1 / x),
    ("powf_scalar", {"scalar": 0.5}, lambda x: INF if x == -INF else guarded(math.pow, x, 0.5)),
    ("powi_scalar", {"scalar": 2}, lambda x: guarded(lambda: x * x)),
    ("powi_scalar", {"scalar": 0}, lambda x: 1.0),
    ("powi_scalar", {"scalar": -1}, lambda x: math.copysign(INF, x) if x == 0 else 1 / x),
    ("powi_scalar", {"scalar": 3}, lambda x: guarded(lambda: x * x * x)),
    ("fmod_scalar", {"scalar": 2.0}, lambda x: guarded(math.fmod, x, 2.0)),
]
for op, params, f in PARAMETRIC:
    keeps_nan = passes_nan(f) if not (op == "powi_scalar" and params["scalar"] == 0) else f
    for dtype in ("f32", "f16", "bf16"):
        points = [v for v in SPECIAL if not (math.isfinite(v) and abs(v) > 100)]
        x = Array([len(points)], points, dtype)
        case(op, [x], params, [Array(x.shape, [keeps_nan(v) for v in x.data], dtype)])
    x = Array([2, 0, 3], [])
    case(op, [x], params, [x])
for op, f in (("equal", lambda a, b: a == b), ("not_equal", lambda a, b: a != b), ("greater", lambda a, b: a > b),
              ("greater_equal", lambda a, b: a >= b), ("lower", lambda a, b: a < b), ("lower_equal", lambda a, b: a <= b)):
    for dtype in ("f32", "f64", "f16", "bf16"):
        a = Array([5, 1], [NAN, INF, -INF, 0, -0.0], dtype)
        b = Array([1, 6], [NAN, INF, -INF, 0, 1, -0.0], dtype)
        case(op, [a, b], {}, [build([5, 6], lambda i: f(a.at([i[0], 0]), b.at([0, i[1]])), "bool")])
        for scalar in (0, INF, NAN, 0.5):
            case(op + "_scalar", [b], {"scalar": scalar}, [build([1, 6], lambda i: f(b.at(i), scalar), "bool")])
    a, b = Array([3, 0], [], "i64"), Array([1, 0], [], "i64")
    case(op, [a, b], {}, [Array([3, 0], [], "bool")])


def remainder(a, b):  # torch.remainder: fmod, moved to the sign of b
    m = guarded(math.fmod, a, b)
    return m + b if m != 0 and not math.isnan(m) and (b < 0) != (m < 0) else m


def power(a, b):
    try:
        return math.pow(a, b)
    except OverflowError:
        return -INF if a < 0 and b == int(b) and int(b) % 2 else INF
    except ValueError:
        return INF if a == 0 and b < 0 else NAN


def divide(a, b):
    if b != 0:
        return a / b
    return NAN if a == 0 or math.isnan(a) else math.copysign(INF, a) * math.copysign(1, b)


BINARY = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": divide,
    "remainder": remainder, "fmod": lambda a, b: guarded(math.fmod, a, b), "powf": power, "atan2": math.atan2,
    "hypot": math.hypot, "max_pair": lambda a, b: b if a < b else a, "min_pair": lambda a, b: b if b < a else a,
}
POINTS = [NAN, INF, -INF, 0.0, 1.0, -1.0, 2.5, -2.5, 3.0]
for op, f in BINARY.items():
    for dtype in ("f32", "f64", "f16", "bf16"):
        a, b = Array([9, 1], POINTS, dtype), Array([1, 9], POINTS, dtype)
        case(op, [a, b], {}, [build([9, 9], lambda i: f(a.at([i[0], 0]), b.at([0, i[1]])), dtype)])
    a, b = ramp([2, 1, 3, 1, 2], start=0.6), ramp([1, 2, 3, 2, 1], start=0.45)
    case(op, [a, b], {}, [build([2, 2, 3, 2, 2], lambda i: f(a.at([i[0], 0, i[2], 0, i[4]]), b.at([0, i[1], i[2], i[3], 0])))])
    a, b = Array([2, 0, 1], []), Array([1, 1, 4], [1, 2, 3, 4])
    case(op, [a, b], {}, [Array([2, 0, 4], [])])
for op, f in (("add", lambda a, b: a + b), ("mul", lambda a, b: a * b), ("sub", lambda a, b: a - b)):
    # Whole numbers wrap, as in PyTorch.
    big = 2**63 - 1
    wrap = lambda v, n: (v + 2 ** (n - 1)) % 2**n - 2 ** (n - 1)
    a, b = Array([4], [big, -big - 1, big, 5], "i64"), Array([4], [1, -1, 2, 7], "i64")
    case(op, [a, b], {}, [Array([4], [wrap(f(x, y), 64) for x, y in zip(a.data, b.data)], "i64")])
    a, b = Array([3], [2**31 - 1, -2**31, 65536], "i32"), Array([3], [1, -1, 65536], "i32")
    case(op, [a, b], {}, [Array([3], [wrap(f(x, y), 32) for x, y in zip(a.data, b.data)], "i32")])


# --- reductions --------------------------------------------------------------------------------------------------------
def largest(line):
    return NAN if any(math.isnan(v) for v in line) else max(line)


def smallest(line):
    return NAN if any(math.isnan(v) for v in line) else min(line)


def where_first(line, best):
    b = best(line)
    return next(k for k, v in enumerate(line) if v == b or (math.isnan(b) and math.isnan(v)))


def mean(line):
    return sum(line) / len(line) if line else NAN


def var(line, correction):
    n = len(line)
    m = mean(line)
    if any(not math.isfinite(v) for v in line):
        return NAN
    total = math.fsum((v - m) ** 2 for v in line)
    return NAN if n - correction <= 0 else total / (n - correction)


def median(line):
    return NAN if any(math.isnan(v) for v in line) else sorted(line)[(len(line) - 1) // 2]


def log_sum_exp(line):
    if not line:
        return -INF
    if any(math.isnan(v) for v in line):
        return NAN
    m = max(line)
    return m if math.isinf(m) else m + math.log(math.fsum(math.exp(v - m) for v in line))


REDUCE = {
    "sum_dim": lambda l: guarded(sum, l), "mean_dim": mean, "prod_dim": lambda l: math.prod(l), "max_dim": largest,
    "min_dim": smallest, "max_abs_dim": lambda l: largest([abs(v) for v in l]), "var": lambda l: var(l, 1),
    "var_bias": lambda l: var(l, 0), "median": median, "logsumexp": log_sum_exp,
}
NEEDS_ELEMENTS = ("max_dim", "min_dim", "max_abs_dim", "median")
SAMPLES = [
    Array([4, 5], [1, 2, 3, 4, 5, NAN, 1, 2, 3, 4, 1, NAN, INF, -INF, 2, INF, 1, -INF, 0, 7]),
    Array([3, 4], [INF, 1, 2, 3, -INF, -INF, -INF, -INF, -INF, 5, 5, 5]),
    Array([2, 6], [2, 2, 2, 1, 1, 1, -1, -1, 3, 3, -3, -3]),  # ties
    Array([2, 1], [3.5, -1]),
    ramp([2, 2, 3, 2, 3], scale=0.05),
    ramp([2, 3, 1, 2, 2, 2], scale=0.03),
]
for op, f in REDUCE.items():
    for x in SAMPLES:
        for dtype in ("f32", "f64", "f16", "bf16"):
            y = Array(x.shape, x.data, dtype)
            for dim in {-1, 0, len(x.shape) // 2}:
                case(op, [y], {"dim": dim}, [reduced(y, dim, f)])
    x = ramp([3, 2, 4, 2, 2], scale=0.05)
    view = {"permute": [3, 0, 4, 2, 1]}
    for dim in (0, 2, -1):
        case(op, [x], {"dim": dim}, [reduced(view_of(x, view), dim, f)], views=[view])
    case(op, [Array([0, 3], [])], {"dim": 1}, [Array([0, 1], [])])
    case(op, [Array([2, 3, 0], [])], {"dim": 1}, [Array([2, 1, 0], [])])
    if op not in NEEDS_ELEMENTS:
        case(op, [Array([2, 0, 3], [])], {"dim": 1}, [Array([2, 1, 3], [f([])] * 6)])
        case(op, [Array([0], [])], {"dim": 0}, [Array([1], [f([])])])
for op, best in (("argmax", largest), ("argmin", smallest)):
    for x in SAMPLES:
        for dtype in ("f32", "f64", "f16", "bf16"):
            y = Array(x.shape, x.data, dtype)
            for dim in (-1, 0):
                found = reduced(y, dim, lambda l: where_first(l, best), "i64")
                case(op, [y], {"dim": dim}, [found])
                values = reduced(y, dim, best)
                case(op[3:] + "_dim_with_indices", [y], {"dim": dim}, [values, found])
    case(op, [Array([0, 3], [])], {"dim": 1}, [Array([0, 1], [], "i64")])
for op, f in (("sum", sum), ("mean", mean), ("prod", math.prod), ("max", largest), ("min", smallest)):
    for x in SAMPLES:
        for dtype in ("f32", "f16"):
            y = Array(x.shape, x.data, dtype)
            case(op, [y], {}, [Array([1], [f(y.data)], dtype)])
    if op in ("sum", "mean", "prod"):
        case(op, [Array([2, 0], [])], {}, [Array([1], [f([])])])
for op, f in (("any", any), ("all", all)):
    for dtype, data in (("f32", [NAN, 0, 0, 1, 0.0, -0.0]), ("i32", [0, 0, 0, 1, 2, 3]), ("bool", [0, 0, 0, 1, 1, 1])):
        x = Array([2, 3], data, dtype)
        truth = [bool(v) for v in x.data]
        case(op, [x], {}, [Array([1], [f(truth)], "bool")])
        case(op + "_dim", [x], {"dim": 1}, [Array([2, 1], [f(truth[:3]), f(truth[3:])], "bool")])
    case(op, [Array([0], [], "bool")], {}, [Array([1], [f([])], "bool")])
    case(op + "_dim", [Array([2, 0], [], "f32")], {"dim": 1}, [Array([2, 1], [f([])] * 2, "bool")])
case("contains_nan", [Array([0], [])], {}, [Array([1], [0], "bool")])
case("contains_nan", [Array([3], [1, INF, -INF])], {}, [Array([1], [0], "bool")])


def running(line, f):
    out = []
    for v in line:
        out.append(v if not out else f(out[-1], v))
    return out


def running_log_sum_exp(line):
    return [log_sum_exp(line[:k + 1]) for k in range(len(line))]


SCANS = {
    "cumsum": lambda l: running(l, lambda a, b: a + b), "cumprod": lambda l: running(l, lambda a, b: a * b),
    "cummax": lambda l: running(l, lambda a, b: largest([a, b])),
    "cummin": lambda l: running(l, lambda a, b: smallest([a, b])), "logcumsumexp": running_log_sum_exp,
}
for op, f in SCANS.items():
    for x in SAMPLES:
        for dtype in ("f32", "f64", "f16", "bf16"):
            y = Array(x.shape, x.data, dtype)
            for dim in (-1, 0):
                case(op, [y], {"dim": dim}, [along(y, dim, f)])
    for shape, dim in (([0], 0), ([2, 0, 3], 1), ([2, 0, 3], 2)):
        case(op, [Array(shape, [])], {"dim": dim}, [Array(shape, [])])
# 16-bit floats are added in f32: 4096 tenths are 409.6, though f16 itself stands still at 256.
for dtype in ("f16", "bf16"):
    tenth = rounded(0.1, dtype)
    x = Array([4096], [0.1] * 4096, dtype)
    case("cumsum", [x], {"dim": 0}, [Array([4096], [tenth * (k + 1) for k in range(4096)], dtype)])
    case("sum", [x], {}, [Array([1], [tenth * 4096], dtype)])

# --- orders ------------------------------------------------------------------------------------------------------------
def key(v):
    return (1, 0) if math.isnan(v) else (0, v)


def ordered(line, descending):
    return sorted(range(len(line)), key=lambda k: key(line[k]), reverse=descending)  # stable: equals keep their order


for x in SAMPLES:
    for dtype in ("f32", "f64", "f16", "bf16"):
        y = Array(x.shape, x.data, dtype)
        for name, down in (("sort", False), ("sort_descending", True)):
            values = along(y, -1, lambda l: [l[k] for k in ordered(l, down)])
            places = along(y, -1, lambda l: ordered(l, down), "i64")
            case(name, [y], {"dim": -1}, [values])
            case(name + "_with_indices", [y], {"dim": -1}, [values, places])  # stable
            case("arg" + name, [y], {"dim": -1}, [places])
        k = min(3, x.shape[-1])
        case("topk", [y], {"k": k, "dim": -1}, [along(y, -1, lambda l: [l[i] for i in ordered(l, True)[:k]])])
for name in ("sort", "sort_descending"):
    for shape, dim in (([0], 0), ([3, 0], 1), ([0, 3], 1), ([2, 0, 2, 1, 3], 4)):
        case(name, [Array(shape, [])], {"dim": dim}, [Array(shape, [])])
        case(name + "_with_indices", [Array(shape, [])], {"dim": dim}, [Array(shape, []), Array(shape, [], "i64")])
case("topk", [Array([0, 3], [])], {"k": 2, "dim": 1}, [Array([0, 2], [])])
case("topk", [ramp([2, 3])], {"k": 0, "dim": 1}, [Array([2, 0], [])])
x = ramp([2, 2, 2, 3, 5])
case("topk_with_indices", [x], {"k": 2, "dim": 4},
     [along(x, 4, lambda l: [l[i] for i in ordered(l, True)[:2]]), along(x, 4, lambda l: ordered(l, True)[:2], "i64")])
view = {"permute": [4, 1, 3, 0, 2]}
case("sort", [x], {"dim": 2}, [along(view_of(x, view), 2, sorted)], views=[view])

# --- large -------------------------------------------------------------------------------------------------------------
wide = 2**22
x = Array([1, 4], [0.1, 0.2, -0.05, 0.3])
view = {"expand": [wide, 4]}
total = wide * math.fsum(x.data)
case("sum", [x], {}, [Array([1], [total])], views=[view])
case("mean", [x], {}, [Array([1], [total / wide / 4])], views=[view])
case("sum_dim", [x], {"dim": 0}, [Array([1, 4], [wide * v for v in x.data])], views=[view])
case("mean_dim", [x], {"dim": 0}, [Array([1, 4], x.data)], views=[view])
case("max", [x], {}, [Array([1], [0.3])], views=[view])
case("var_bias", [x], {"dim": 0}, [Array([1, 4], [0, 0, 0, 0])], views=[view])
y = Array([4, 1], x.data)
view = {"expand": [4, wide]}
case("sum_dim", [y], {"dim": 1}, [Array([4, 1], [wide * v for v in x.data])], views=[view])
case("logsumexp", [y], {"dim": 1}, [Array([4, 1], [v + math.log(wide) for v in y.data])], views=[view])
one = Array([1], [1.0])
case("sum", [one], {}, [Array([1], [2.0**24])], views=[{"expand": [2**24]}])
case("sum", [one], {}, [Array([1], [2.0**24 + 3])], views=[{"expand": [2**24 + 3]}], tolerance=(1e-7, 0))
case("mean", [one], {}, [one], views=[{"expand": [2**24 + 1]}])
half = Array([1], [1.0], "f16")
case("mean", [half], {}, [half], views=[{"expand": [2**18]}])
case("sum", [half], {}, [Array([1], [INF], "f16")], views=[{"expand": [2**18]}])
case("var_bias", [half], {"dim": 0}, [Array([1], [0], "f16")], views=[{"expand": [2**18]}])
step = Array([1], [0.001])
case("cumsum", [step], {"dim": 0}, [Array([200000], [step.data[0] * (k + 1) for k in range(200000)])],
     views=[{"expand": [200000]}])
count = Array([1], [3], "i64")
case("sum", [count], {}, [Array([1], [3 * 2**22], "i64")], views=[{"expand": [2**22]}])

# --- softmax -----------------------------------------------------------------------------------------------------------
def softmax(line):
    if any(math.isnan(v) for v in line) or not line or max(line) in (INF, -INF):
        return [NAN] * len(line)
    m = max(line)
    e = [math.exp(v - m) for v in line]
    return [v / math.fsum(e) for v in e]


def log_softmax(line):
    if any(math.isnan(v) for v in line) or not line or max(line) in (INF, -INF):
        return [NAN] * len(line)
    total = log_sum_exp(line)
    return [v - total for v in line]


HOT = [Array([4, 3], [1, 2, NAN, INF, 1, 2, -INF, -INF, -INF, -INF, 0, 1]), Array([2, 3], [1e4, 0, -1e4, 88, 89, 90]),
       ramp([2, 1, 3, 2, 4]), Array([2, 0], []), Array([0, 2], []), Array([3, 1], [5, -INF, NAN])]
for x in HOT:
    for dtype in ("f32", "f64", "f16", "bf16"):
        y = Array(x.shape, x.data, dtype)
        case("softmax", [y], {"dim": -1}, [along(y, -1, softmax)])
        case("log_softmax", [y], {"dim": -1}, [along(y, -1, log_softmax)])

# --- shapes ------------------------------------------------------------------------------------------------------------
x5 = ramp([2, 3, 1, 2, 2])
empty = Array([2, 0, 3], [])
case("reshape", [x5], {"shape": [4, -1]}, [Array([4, 6], x5.data)])
case("reshape", [x5], {"shape": [2, 3, 2, 1, 2, 1]}, [Array([2, 3, 2, 1, 2, 1], x5.data)])
for axes in ([4, 3, 2, 1, 0], [1, 0, 4, 2, 3]):
    case("permute", [x5], {"axes": axes}, [view_of(x5, {"permute": axes})])
case("permute", [empty], {"axes": [2, 0, 1]}, [Array([3, 2, 0], [])])
case("transpose", [empty], {}, [Array([2, 3, 0], [])])
case("swap_dims", [x5], {"dim1": -1, "dim2": 1}, [view_of(x5, {"permute": [0, 4, 2, 3, 1]})])
case("flip", [x5], {"axes": [1, -1]}, [build(x5.shape, lambda i: x5.at([i[0], 2 - i[1], i[2], i[3], 1 - i[4]]))])
case("flip", [empty], {"axes": [0, 1]}, [empty])
case("flatten", [x5], {"start_dim": 1, "end_dim": -2}, [Array([2, 6, 2], x5.data)])
case("flatten", [empty], {"start_dim": 0, "end_dim": 2}, [Array([0], [])])
case("squeeze_dim", [x5], {"dim": 2}, [Array([2, 3, 2, 2], x5.data)])
case("unsqueeze_dim", [x5], {"dim": -1}, [Array([2, 3, 1, 2, 2, 1], x5.data)])
case("unsqueeze_dim", [empty], {"dim": 1}, [Array([2, 1, 0, 3], [])])
case("expand", [Array([1, 0], [])], {"shape": [3, 0]}, [Array([3, 0], [])])
case("expand", [ramp([1, 3])], {"shape": [0, 3]}, [Array([0, 3], [])])
case("expand", [ramp([2, 1])], {"shape": [4, 1, -1, 3]}, [view_of(ramp([2, 1]), {"expand": [4, 1, 2, 3]})])
case("repeat_dim", [empty], {"dim": 0, "times": 3}, [Array([6, 0, 3], [])])
case("repeat_dim", [ramp([2, 3])], {"dim": 1, "times": 0}, [Array([2, 0], [])])
case("roll_dim", [empty], {"shift": 1, "dim": 1}, [empty])
case("roll_dim", [empty], {"shift": 1, "dim": 2}, [empty])
case("cat", [empty, Array([2, 2, 3], range(12))], {"dim": 1}, [Array([2, 2, 3], range(12))])
case("cat", [empty, empty], {"dim": 0}, [Array([4, 0, 3], [])])
case("stack", [empty, empty], {"dim": 0}, [Array([2, 2, 0, 3], [])])
case("narrow", [x5], {"dim": 1, "start": 3, "length": 0}, [Array([2, 0, 1, 2, 2], [])])
case("slice", [x5], {"slices": [[0, 2, 1], [2, 2, 1]]}, [Array([2, 0, 1, 2, 2], [])])
case("slice", [x5], {"slices": [[0, 2, -1], [0, 3, 2], [0, 1, 1], [-1, 2, 1]]},
     [build([2, 2, 1, 1, 2], lambda i: x5.at([1 - i[0], 2 * i[1], 0, 1, i[4]]))])
case("triu", [x5], {"diagonal": 1}, [build(x5.shape, lambda i: x5.at(i) if i[4] - i[3] >= 1 else 0)])
case("tril", [x5], {"diagonal": -1}, [build(x5.shape, lambda i: x5.at(i) if i[4] - i[3] <= -1 else 0)])
case("triu", [Array([3, 0], [])], {"diagonal": 0}, [Array([3, 0], [])])
nans = Array([3, 3], [NAN] * 9)
case("triu", [nans], {"diagonal": 0}, [build([3, 3], lambda i: NAN if i[1] >= i[0] else 0)])
case("tril", [nans], {"diagonal": 0}, [build([3, 3], lambda i: NAN if i[1] <= i[0] else 0)])
case("pad", [empty], {"pads": [[1, 2], [0, 1]], "mode": "constant", "value": 7}, [Array([2, 3, 4], [7] * 24)])
case("pad", [x5], {"pads": [[1, 0]], "mode": "edge", "value": 0},
     [build([2, 3, 1, 2, 3], lambda i: x5.at(list(i[:4]) + [max(i[4] - 1, 0)]))])
case("pad", [ramp([2, 3])], {"pads": [[0, 0], [1, 1]], "mode": "constant", "value": NAN},
     [build([2, 5], lambda i: ramp([2, 3]).at([i[0], i[1] - 1]) if 0 < i[1] < 4 else NAN)])
case("unfold", [x5], {"dim": 1, "size": 2, "step": 1},
     [build([2, 2, 1, 2, 2, 2], lambda i: x5.at([i[0], i[1] + i[5], i[2], i[3], i[4]]))])

# --- norms ---
ROWS = Array([4, 3], [3, -4, 0, NAN, 1, 2, INF, 1, -2, 0, 0, 0])
for dtype in ("f32", "f64"):
    rows = Array(ROWS.shape, ROWS.data, dtype)
    magnitudes = lambda l: [abs(v) for v in l]
    case("l1_norm", [rows], {"dim": 1}, [reduced(rows, 1, lambda l: sum(magnitudes(l)))])
    case("l2_norm", [rows], {"dim": 1}, [reduced(rows, 1, lambda l: math.sqrt(sum(v * v for v in l)))])
    case("l0_norm", [rows], {"dim": 1}, [reduced(rows, 1, lambda l: sum(v != 0 for v in l))])
    case("max_abs_norm", [rows], {"dim": 1}, [reduced(rows, 1, lambda l: largest(magnitudes(l)))])
    case("min_abs_norm", [rows], {"dim": 1}, [reduced(rows, 1, lambda l: smallest(magnitudes(l)))])
    case("lp_norm", [rows], {"dim": 1, "p": 3.0}, [reduced(rows, 1, lambda l: sum(abs(v) ** 3 for v in l) ** (1 / 3))])
    deep = ramp([2, 1, 3, 2, 2], dtype, scale=0.3)
    case("l2_norm", [deep], {"dim": 2}, [reduced(deep, 2, lambda l: math.sqrt(sum(v * v for v in l)))])
case("l2_norm", [Array([0, 3], [])], {"dim": 1}, [Array([0, 1], [])])
case("l2_norm", [Array([2, 0], [])], {"dim": 1}, [Array([2, 1], [0, 0])])
case("l1_norm", [Array([2, 0], [])], {"dim": 1}, [Array([2, 1], [0, 0])])

# --- places ------------------------------------------------------------------------------------------------------------
none = Array([0], [], "i64")
case("select", [ramp([3, 2]), none], {"dim": 0}, [Array([0, 2], [])])
case("select", [Array([3, 0], []), Array([2], [2, 0], "i64")], {"dim": 0}, [Array([2, 0], [])])
case("gather", [ramp([3, 2]), Array([0, 2], [], "i64")], {"dim": 0}, [Array([0, 2], [])])
i5 = build([2, 3, 1, 2, 4], lambda i: (i[0] + i[1] + i[4]) % 2, "i64")
case("gather", [x5, i5], {"dim": 4}, [build(i5.shape, lambda i: x5.at(list(i[:4]) + [i5.at(i)]))])
case("scatter", [ramp([3, 2]), Array([0, 2], [], "i64"), Array([0, 2], [])], {"dim": 0, "update": "add"}, [ramp([3, 2])])
ones = Array([6, 1], [1, 2, 3, 4, NAN, 6])
case("scatter", [Array([3, 1], [0, 10, 20]), Array([6, 1], [0, 0, 0, 1, 2, 2], "i64"), ones],
     {"dim": 0, "update": "add"}, [Array([3, 1], [6, 14, NAN])])
case("select_assign", [ramp([3, 2]), none, Array([0, 2], [])], {"dim": 0, "update": "add"}, [ramp([3, 2])])
case("take", [ramp([3, 2]), Array([2, 0], [], "i64")], {"dim": 1}, [Array([3, 2, 0], [])])
g = Array([2, 2, 3], [0, 0, 0, 1, 2, 0, 1, 1, 0, 0, 2, 0], "i64")
case("gather_nd", [x5, g], {}, [build([2, 2, 2, 2], lambda i: x5.at([g.at([i[0], i[1], k]) for k in range(3)] + list(i[2:])))])
case("gather_nd", [ramp([3, 2]), Array([0, 1], [], "i64")], {}, [Array([0, 2], [])])
case("scatter_nd", [ramp([3, 2]), Array([0, 1], [], "i64"), Array([0, 2], [])], {"update": "add"}, [ramp([3, 2])])
for n in (Array([0], [], "bool"), Array([2, 0], [], "bool"), Array([3], [0, 0, 0], "bool")):
    case("argwhere", [n], {}, [Array([0, len(n.shape)], [], "i64")])
    case("nonzero", [n], {}, [none] * len(n.shape))
b5 = build([2, 2, 1, 2, 2], lambda i: sum(i) % 3 == 0, "bool")
hits = [i for i in indices(b5.shape) if b5.at(i)]
case("argwhere", [b5], {}, [Array([len(hits), 5], [k for i in hits for k in i], "i64")])
v5 = ramp(b5.shape)
case("mask_select", [v5, b5], {}, [Array([len(hits)], [v5.at(i) for i in hits])])
case("mask_select", [ramp([3]), Array([3], [0, 0, 0], "bool")], {}, [Array([0], [])])
case("mask_where", [nans, Array([3, 3], [1, 0, 0] * 3, "bool"), ramp([3, 3])], {},
     [build([3, 3], lambda i: ramp([3, 3]).at(i) if i[1] == 0 else NAN)])
case("mask_fill", [v5, b5], {"value": -INF}, [build(b5.shape, lambda i: -INF if b5.at(i) else v5.at(i))])
case("one_hot", [none], {"num_classes": 3}, [Array([0, 3], [], "i64")])

# --- products ----------------------------------------------------------------------------------------------------------
def matmul(a, b):
    lead = [max(m, n) if 0 not in (m, n) else 0 for m, n in zip(a.shape[:-2], b.shape[:-2])]
    m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
    clip = lambda x, i: [0 if s == 1 else j for s, j in zip(x.shape[:-2], i)]
    return build(lead + [m, n], lambda i: sum(a.at(clip(a, i[:-2]) + [i[-2], q]) * b.at(clip(b, i[:-2]) + [q, i[-1]])
                                              for q in range(k)), a.dtype)


for a, b in (([2, 1, 2, 3, 4], [1, 3, 2, 4, 2]), ([0, 3], [3, 2]), ([2, 0], [0, 3]), ([3, 2], [2, 0]), ([0, 2, 3], [1, 3, 2]),
             ([2, 1, 0, 3], [1, 2, 3, 0])):
    for dtype in ("f32", "f64", "f16", "i64"):
        left, right = ramp(a, dtype, scale=0.11, start=-1), ramp(b, dtype, scale=0.07, start=-0.5)
        case("matmul", [left, right], {}, [matmul(left, right)], tolerance=(2e-3, 2e-3) if dtype == "f16" else None)
left = Array([2, 2], [NAN, 1, 2, INF])
case("matmul", [left, Array([2, 2], [1, 0, 0, 1])], {}, [matmul(left, Array([2, 2], [1, 0, 0, 1]))])
case("dot", [Array([0], []), Array([0], [])], {}, [Array([1], [0])])
for dtype in ("f16", "bf16"):
    long = Array([1, 4096], [0.1] * 4096, dtype)
    tall = Array([4096, 1], [0.1] * 4096, dtype)
    case("matmul", [long, tall], {}, [Array([1, 1], [4096 * long.data[0] ** 2], dtype)])

# --- casts -------------------------------------------------------------------------------------------------------------
case("cast", [Array([4], [70000, -70000, NAN, INF])], {"dtype": "f16"}, [Array([4], [INF, -INF, NAN, INF], "f16")])
case("cast", [Array([4], [NAN, 0, -0.0, INF])], {"dtype": "bool"}, [Array([4], [1, 0, 0, 1], "bool")])
case("bool", [Array([4], [NAN, 0, -0.0, 1e-40])], {}, [Array([4], [1, 0, 0, 1], "bool")])
case("cast", [Array([3], [2.0**30 + 1, -2.0**40, 2.0**53], "f64")], {"dtype": "i64"},
     [Array([3], [2**30 + 1, -2**40, 2**53], "i64")])
case("cast", [Array([2], [2**53 + 1, -2**53 - 1], "i64")], {"dtype": "f64"}, [Array([2], [2.0**53, -2.0**53], "f64")])
case("cast", [Array([0, 2], [])], {"dtype": "i64"}, [Array([0, 2], [], "i64")])
case("cast", [Array([3], [2**31 + 5, 300, -1], "i64")], {"dtype": "i32"}, [Array([3], [-2**31 + 5, 300, -1], "i32")])

# --- layers of a batch of none -----------------------------------------------------------------------------------------
case("max_pool2d", [Array([1, 1, 2, 2], [NAN, 1, 2, 3])],
     {"kernel_size": [2, 2], "stride": [2, 2], "padding": [0, 0], "dilation": [1, 1], "ceil_mode": False},
     [Array([1, 1, 1, 1], [NAN])])
case("max_pool2d", [Array([1, 1, 2, 2], [-INF] * 4)],
     {"kernel_size": [2, 2], "stride": [2, 2], "padding": [0, 0], "dilation": [1, 1], "ceil_mode": False},
     [Array([1, 1, 1, 1], [-INF])])
case("max_pool2d", [Array([0, 2, 4, 4], [])],
     {"kernel_size": [2, 2], "stride": [2, 2], "padding": [0, 0], "dilation": [1, 1], "ceil_mode": False},
     [Array([0, 2, 2, 2], [])])
case("avg_pool2d", [Array([0, 2, 4, 4], [])],
     {"kernel_size": [2, 2], "stride": [2, 2], "padding": [0, 0], "count_include_pad": True, "ceil_mode": False},
     [Array([0, 2, 2, 2], [])])
case("layer_norm", [Array([0, 3], []), Array([3], [1, 1, 1]), None], {"epsilon": 1e-5}, [Array([0, 3], [])])
case("embedding", [ramp([5, 2]), Array([0, 3], [], "i64")], {}, [Array([0, 3, 2], [])])
case("linear", [Array([0, 2], []), ramp([2, 3]), None], {}, [Array([0, 3], [])])
