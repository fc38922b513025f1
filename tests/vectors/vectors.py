"""What the generators of reference vectors share: numbers of a dtype, arrays, views, and a case as a line of JSON.

The format is that of the other reference vectors: one case per line, {"id", "op", "inputs", "views", "params", "outputs",
"grad", "rtol", "atol"}. Nothing but the standard library.
"""
import itertools
import json
import math
import struct
import sys

NAN, INF = math.nan, math.inf
counts = {}


# --- numbers -----------------------------------------------------------------------------------------------------------
def rounded(x, dtype):
    """x as a number of the dtype, to nearest even."""
    if dtype in ("i64", "i32", "u8", "bool"):
        return int(x)
    if dtype == "f64" or math.isnan(x) or math.isinf(x):
        return float(x)
    if dtype == "f32":
        try:
            return struct.unpack("<f", struct.pack("<f", x))[0]
        except OverflowError:
            return math.copysign(INF, x)
    if dtype == "f16":
        try:
            return struct.unpack("<e", struct.pack("<e", x))[0]
        except OverflowError:
            return math.copysign(INF, x)
    bits = struct.unpack("<I", struct.pack("<f", rounded(x, "f32")))[0]  # bf16
    bits += 0x7FFF + ((bits >> 16) & 1)
    return struct.unpack("<f", struct.pack("<I", bits & 0xFFFF0000))[0]


def plain(x, dtype):
    if dtype not in ("f32", "f64", "f16", "bf16"):
        return int(x)
    if math.isnan(x):
        return "nan"
    if math.isinf(x):
        return "inf" if x > 0 else "-inf"
    return int(x) if x == int(x) and abs(x) < 1e15 and math.copysign(1, x) > 0 else x


class Array:
    """Numbers in row-major order."""

    def __init__(self, shape, data, dtype="f32"):
        self.shape, self.dtype = list(shape), dtype
        self.data = [rounded(x, dtype) for x in data]
        assert len(self.data) == math.prod(self.shape), (shape, len(self.data))

    def at(self, index):
        place = 0
        for i, n in zip(index, self.shape):
            place = place * n + i
        return self.data[place]

    def json(self):
        return {"dtype": self.dtype, "shape": self.shape, "data": [plain(x, self.dtype) for x in self.data]}


def indices(shape):
    return itertools.product(*(range(n) for n in shape))


def build(shape, f, dtype="f32"):
    return Array(shape, [f(i) for i in indices(shape)], dtype)


def ramp(shape, dtype="f32", scale=0.37, start=-3.1):
    """Distinct numbers without an order."""
    n = math.prod(shape)
    step = next((s for s in (7, 11, 13, 17, 19) if n % s), 1)
    values = [start + scale * ((i * step) % n if n else 0) for i in range(n)]
    return Array(shape, [round(v) for v in values] if dtype[0] in "iu" else values, dtype)


def view_of(x, view):
    """What the op sees."""
    if view is None:
        return x
    if "permute" in view:
        axes = view["permute"]
        shape = [x.shape[a] for a in axes]

        def source(i):
            place = [0] * len(axes)
            for a, k in zip(axes, i):
                place[a] = k
            return x.at(place)

        return build(shape, source, x.dtype)
    if "slice" in view:
        ranges = [range(*r) for r in view["slice"]]
        return build([len(r) for r in ranges], lambda i: x.at([r[k] for r, k in zip(ranges, i)]), x.dtype)
    shape = view["expand"]
    lead = len(shape) - len(x.shape)
    return build(shape, lambda i: x.at([0 if n == 1 else k for n, k in zip(x.shape, i[lead:])]), x.dtype)


NO_GRADIENT = ()
TOLERANCE = {"f32": (1e-5, 1e-6), "f64": (1e-9, 1e-12), "f16": (2e-3, 1e-5), "bf16": (1e-2, 1e-4)}


def case(op, inputs, params, outputs, views=None, grad=None, tolerance=None):
    number = counts[op] = counts.get(op, -1) + 1
    line = {"id": f"{op}/edge{number}", "op": op, "inputs": [x and x.json() for x in inputs]}
    if views and any(views):
        line["views"] = views
    line["params"] = {k: (plain(v, "f64") if isinstance(v, float) else v) for k, v in params.items()}
    line["outputs"] = [y.json() for y in outputs]
    empty = [i for i, x in enumerate(inputs) if x and not x.data and x.dtype in TOLERANCE]
    if grad is None and empty and not views and op not in NO_GRADIENT and all(y.dtype in TOLERANCE for y in outputs):
        # Of nothing: nothing, in the shape of the input.
        grad = {"cotangents": [{"shape": y.shape, "data": [1] * len(y.data)} for y in outputs],
                "inputs": [{"index": i, "shape": inputs[i].shape, "data": []} for i in empty]}
    if grad:
        line["grad"] = grad
    floats = [y.dtype for y in outputs if y.dtype in TOLERANCE]
    rtol, atol = tolerance or (max((TOLERANCE[d] for d in floats)) if floats else (0, 0))
    line["rtol"], line["atol"] = rtol, atol
    sys.stdout.write(json.dumps(line, separators=(",", ":")) + "\n")


def guarded(f, *args):
    """f, where Python throws what IEEE 754 gives."""
    try:
        return f(*args)
    except OverflowError:
        return INF
    except (ValueError, ZeroDivisionError):
        return NAN


def lines(x, dim):
    """(index without the dim, the numbers along it)"""
    rest = x.shape[:dim] + [1] + x.shape[dim + 1:]
    for i in indices(rest):
        yield [x.at(list(i[:dim]) + [k] + list(i[dim + 1:])) for k in range(x.shape[dim])]


def reduced(x, dim, f, dtype=None):
    dim %= len(x.shape)
    return Array(x.shape[:dim] + [1] + x.shape[dim + 1:], [f(line) for line in lines(x, dim)], dtype or x.dtype)


def along(x, dim, f, dtype=None):
    """f gives as many numbers as it gets, or another count for every line."""
    dim %= len(x.shape)
    results = [f(line) for line in lines(x, dim)]
    n = len(results[0]) if results else len(f([0.0] * x.shape[dim]))
    shape = x.shape[:dim] + [n] + x.shape[dim + 1:]
    rest = x.shape[:dim] + x.shape[dim + 1:]
    where = {i: k for k, i in enumerate(indices(rest))}
    return build(shape, lambda i: results[where[tuple(i[:dim]) + tuple(i[dim + 1:])]][i[dim]], dtype or x.dtype)
