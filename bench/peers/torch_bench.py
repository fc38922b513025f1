#!/usr/bin/python3
"""The benchmarks of burn-bench in PyTorch, under the same names: one JSON object a line.

Usage: torch_bench.py [--threads N] [--device cpu|cuda] [--mode eager|compile|graph|both] [--only NAME,..] [--seconds S] [--inner N] [--memory].
On cuda the sizes are burn-bench's for GPUs. --mode is for the steps: torch.compile (of gpt2_step in its mode max-autotune), the whole
step captured in a CUDA graph, or both. --inner: calls between two syncs, where a benchmark has several (a step: 10, on
cuda 100). --memory adds the peak of what tensors took on the GPU, in GiB, to each line. Debian's python3-torch is enough; set
LD_LIBRARY_PATH to the OpenMP flavour of OpenBLAS (scripts/bench does), or two thread pools fight for the cores.
"""
import argparse
import json
import math
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn


GPU = False
MODE = "eager"
CALLS = 0


def side():
    return 8192 if GPU else 1024


def calls(on_cpu):
    """Of a sample, for what takes a GPU some 100 us."""
    return 32 if GPU else on_cpu


def repeat(body, seconds, inner=1):
    """Seconds of each call of `body`, as the mean over `inner` calls, after three samples to warm up."""
    if CALLS and inner > 1:
        inner = CALLS
    def take():
        start = time.perf_counter()
        for _ in range(inner):
            body()
        if GPU:
            torch.cuda.synchronize()
        return (time.perf_counter() - start) / inner

    for _ in range(3):
        take()
    samples, start = [], time.perf_counter()
    while len(samples) < 5 or time.perf_counter() - start < seconds:
        samples.append(take())
    return samples


def rate(samples, amount):
    return [amount / s for s in samples]


def micro(samples):
    return [s * 1e6 for s in samples]


def copy(s):
    size = (1024 if GPU else 64) << 20
    x = torch.zeros(size // 4)
    return rate(repeat(lambda: x.clone(), s, 4), 2 * size / 1e9)


def gelu(x):
    return x * (torch.erf(x / math.sqrt(2)) + 1) / 2


def gelu_custom(s):
    x = torch.randn(1 << (26 if GPU else 22))
    return rate(repeat(lambda: gelu(x), s, calls(4)), 2 * 4 * x.numel() / 1e9)


def gelu_custom_backward(s):
    x = torch.randn(1 << (26 if GPU else 22), requires_grad=True)
    return rate(repeat(lambda: torch.autograd.grad(gelu(x).sum(), x), s, calls(4)), 3 * 4 * x.numel() / 1e9)


def softmax(s):
    x = torch.randn(side(), side())
    return rate(repeat(lambda: torch.softmax(x, 1), s, calls(16)), 2 * 4 * x.numel() / 1e9)


def layer_norm(s):
    x, norm = torch.randn(side(), side()), nn.LayerNorm(side())
    with torch.no_grad():
        return rate(repeat(lambda: norm(x), s, calls(16)), 2 * 4 * x.numel() / 1e9)


def cross_entropy(s):
    x, targets = torch.randn(side(), side()), torch.arange(side())
    return rate(repeat(lambda: F.cross_entropy(x, targets), s, calls(16)), 4 * x.numel() / 1e9)


def sum_dim0(s):
    x = torch.randn(side(), side())
    return rate(repeat(lambda: x.sum(0), s, 32), 4 * x.numel() / 1e9)


def matmul(dtype, n=1024):
    def run(s):
        a, b = torch.randn(n, n).to(dtype), torch.randn(n, n).to(dtype)
        return rate(repeat(lambda: a @ b, s, calls(4) if n == 1024 else 4), 2 * n**3 / 1e12)
    return run


def matmul_of_integers(dtype, n=1024):
    def run(s):
        numbers = torch.arange(n * n).remainder(100).reshape(n, n)
        a, b = numbers.to(dtype), (numbers.t() + 1).to(dtype).contiguous()
        return rate(repeat(lambda: a @ b, s, 4), 2 * n**3 / 1e12)
    return run


def interpolate(s):
    x = torch.randn(8, 64, 128, 128)
    return rate(repeat(lambda: F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False), s), 4 * 5 * x.numel() / 1e9)


def grid_sample(s):
    x, grid = torch.randn(8, 32, 128, 128), torch.rand(8, 128, 128, 2) * 2 - 1
    return rate(repeat(lambda: F.grid_sample(x, grid, align_corners=False), s), 4 * 2 * x.numel() / 1e9)


def tensor_op(call, *shapes):
    """Milliseconds of one call on numbers of these shapes; of `places`, whole numbers below 4096."""
    def run(s):
        data = [torch.randint(0, 4096, (256, 4096)) if shape == "places" else torch.randn(*shape) for shape in shapes]
        return [1e3 * t for t in repeat(lambda: call(*data), s)]
    return run


ROWS = (256, 4096)
CONV_FLOPS = 2.0 * 32 * 64 * 56 * 56 * 64 * 9


def conv2d_fwd(s):
    x, w = torch.randn(32, 64, 56, 56), torch.randn(64, 64, 3, 3)
    return rate(repeat(lambda: F.conv2d(x, w, padding=1), s), CONV_FLOPS / 1e12)


def conv2d_bwd(s):
    x, w, g = torch.randn(32, 64, 56, 56), torch.randn(64, 64, 3, 3), torch.randn(32, 64, 56, 56)

    def body():
        torch.ops.aten.convolution_backward(g, x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, [True, True, False])
    return rate(repeat(body, s), 2 * CONV_FLOPS / 1e12)


ATTENTION_FLOPS = 4.0 * 16 * 12 * 1024 * 1024 * 64 / 2


def heads(requires_grad=False):
    x = torch.randn(16, 1024, 12, 64).to(torch.bfloat16).requires_grad_(requires_grad)
    return x, x.transpose(1, 2)


def attention_fwd(s):
    q, k, v = (heads()[1] for _ in range(3))
    return rate(repeat(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True), s, 4), ATTENTION_FLOPS / 1e12)


def attention_bwd(s):
    (a, q), (b, k), (c, v) = (heads(True) for _ in range(3))
    y, g = F.scaled_dot_product_attention(q, k, v, is_causal=True), heads()[1]
    return rate(repeat(lambda: torch.autograd.grad(y, (a, b, c), g, retain_graph=True), s, 4), 2.5 * ATTENTION_FLOPS / 1e12)


def op_dispatch(s):
    x = torch.randn(32, 32)

    def body():
        y = x
        for _ in range(1000):
            y = y + x
    return micro([t / 1000 for t in repeat(body, s)])


class Mlp(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 8, 3), nn.Conv2d(8, 16, 3)
        self.linear1, self.linear2 = nn.Linear(1024, 512), nn.Linear(512, 10)

    def forward(self, images):
        x = F.dropout(self.conv1(images.view(-1, 1, 28, 28)))
        x = F.relu(F.dropout(self.conv2(x)))
        x = F.adaptive_avg_pool2d(x, 8).flatten(1)
        return self.linear2(F.relu(F.dropout(self.linear1(x))))


def captured(body):
    """The whole of it as a CUDA graph."""
    side_stream = torch.cuda.Stream()
    side_stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side_stream):
        for _ in range(5):
            body()
    torch.cuda.current_stream().wait_stream(side_stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        body()
    return graph


def training(net, loss):
    """A step with Adam, as MODE says: `loss` compiled, and the whole of it captured."""
    graph = MODE in ("graph", "both")
    optim = torch.optim.Adam(net.parameters(), lr=1e-3, **({"capturable": True} if graph else {}))
    if MODE in ("compile", "both"):
        loss = torch.compile(loss)

    def body():
        optim.zero_grad()
        loss().backward()
        optim.step()
    return captured(body).replay if graph else body


def step(model, batch):
    def run(s):
        torch.manual_seed(1)
        net = model()
        images, targets = torch.rand(batch, 784), torch.arange(batch) % 10
        return micro(repeat(training(net, lambda: F.cross_entropy(net(images), targets)), s, 100 if GPU else 10))
    return run


def lstm_step(s):
    """Milliseconds of a step with Adam: two layers of 512, 64 sequences of 128 steps, the mean square as the loss."""
    torch.manual_seed(1)
    net = nn.LSTM(512, 512, 2, batch_first=True)
    x = torch.rand(64, 128, 512) * 2 - 1
    return [1e3 * t for t in repeat(training(net, lambda: net(x)[0].square().mean()), s, 10 if GPU else 1)]


class Block(nn.Module):
    """GPT-2's, with one product for queries, keys and values."""
    def __init__(self, model, heads, context, gelu="none"):
        super().__init__()
        self.heads, self.gelu = heads, gelu
        self.norm1, self.norm2 = nn.LayerNorm(model), nn.LayerNorm(model)
        self.qkv, self.out = nn.Linear(model, 3 * model), nn.Linear(model, model)
        self.inner, self.outer = nn.Linear(model, 4 * model), nn.Linear(4 * model, model)
        self.register_buffer("later", torch.ones(context, context, dtype=torch.bool).triu(1))

    def split_heads(self, x):
        b, n, d = x.shape
        return (t.view(b, n, self.heads, d // self.heads).transpose(1, 2) for t in self.qkv(x).split(d, 2))

    def attend(self, x):
        b, n, d = x.shape
        q, k, v = self.split_heads(x)
        if hasattr(F, "scaled_dot_product_attention"):
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = (q @ k.transpose(2, 3)) * (1 / math.sqrt(d // self.heads))
            y = torch.softmax(scores.masked_fill(self.later[:n, :n], -math.inf), 3) @ v
        return self.out(y.transpose(1, 2).reshape(b, n, d))

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.outer(F.gelu(self.inner(self.norm2(x)), approximate=self.gelu))

    def continued(self, x, past):
        """What follows what is in `past`, keys and values [batch, heads, length, depth] or None; and both with it."""
        b, n, d = x.shape
        q, k, v = self.split_heads(self.norm1(x))
        if past is not None:
            k, v = torch.cat((past[0], k), 2), torch.cat((past[1], v), 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=n > 1)
        x = x + self.out(y.transpose(1, 2).reshape(b, n, d))
        return x + self.outer(F.gelu(self.inner(self.norm2(x)), approximate=self.gelu)), (k, v)


class CharGpt(nn.Module):
    def __init__(self, vocabulary=65, context=256, model=384, layers=6, heads=6, gelu="none"):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, model), nn.Embedding(context, model)
        self.blocks = nn.Sequential(*(Block(model, heads, context, gelu) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(model), nn.Linear(model, vocabulary, bias=False)

    def forward(self, text):
        x = self.tokens(text) + self.positions(torch.arange(text.shape[1], device=text.device))
        return self.head(self.norm(self.blocks(x))).flatten(0, 1)


def chargpt_step(s):
    torch.manual_seed(1)
    net = CharGpt()
    optim = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.1)
    i = torch.arange(12 * 256 + 1)
    text = i * i % 101 % 65
    loss = lambda: F.cross_entropy(net(text[:-1].view(12, 256)), text[1:])
    if MODE in ("compile", "both"):
        loss = torch.compile(loss)

    def body():
        optim.zero_grad()
        loss().backward()
        optim.step()
    return rate(repeat(body, s), 12 * 256)


class Gpt2(CharGpt):
    """124M parameters: the head is the table of tokens, GELU goes by tanh."""
    def __init__(self):
        super().__init__(vocabulary=50304, context=1024, model=768, layers=12, heads=12, gelu="tanh")
        nn.init.normal_(self.tokens.weight, std=0.02)
        nn.init.normal_(self.positions.weight, std=0.02)
        self.head.weight = self.tokens.weight

    def continued(self, text, cache):
        """The logits of the next token, and the cache with `text`."""
        before = cache[0][0].shape[2] if cache else 0
        x = self.tokens(text) + self.positions(torch.arange(before, before + text.shape[1]))
        longer = []
        for i, block in enumerate(self.blocks):
            x, kept = block.continued(x, cache[i] if cache else None)
            longer.append(kept)
        return self.head(self.norm(x[:, -1])), longer


def gpt2_tokens(rows, length):
    i = torch.arange(rows * length)
    return (i * i % 50021 % 50304).view(rows, length)


def gpt2_step(s):
    """Products in bf16, weights, loss and AdamW in f32; 16 pieces of 1,024 tokens, which are on the device."""
    torch.manual_seed(1)
    net = Gpt2()
    graph = MODE in ("graph", "both")
    options = {"fused": True} if GPU else {}
    if graph:
        options["capturable"] = True
    optim = torch.optim.AdamW(net.parameters(), lr=1e-4, weight_decay=0.1, **options)
    text = gpt2_tokens(16, 1025)
    before, after = text[:, :-1].contiguous(), text[:, 1:].reshape(-1)

    def loss():
        with torch.autocast("cuda" if GPU else "cpu", dtype=torch.bfloat16):
            return F.cross_entropy(net(before), after)
    if MODE == "compile":
        loss = torch.compile(loss, mode="max-autotune")  # with CUDA graphs of its own
    elif MODE == "both":
        loss = torch.compile(loss, mode="max-autotune-no-cudagraphs")

    def body():
        optim.zero_grad(set_to_none=True)
        loss().backward()
        optim.step()
    return rate(repeat(captured(body).replay if graph else body, s, 5), 16 * 1024)


def gpt2_generate(s):
    """Milliseconds a token, batch 1, all in bf16: 256 tokens after a prompt of 16. There is no graph of shapes that grow."""
    if MODE in ("graph", "both"):
        sys.exit("torch_bench: gpt2_generate is eager or compiled")
    torch.manual_seed(1)
    net = Gpt2().to(torch.bfloat16).eval()
    prompt = gpt2_tokens(1, 16)
    continued = torch.compile(net.continued, dynamic=True) if MODE == "compile" else net.continued

    def body():
        text, cache = prompt, []
        for _ in range(256):
            logits, cache = continued(text, cache)
            text = logits.argmax(1, keepdim=True)
    with torch.no_grad():
        return [1e3 * t / 256 for t in repeat(body, s)]


BENCHMARKS = {
    "copy": ("GB/s", copy),
    "gelu_custom": ("GB/s", gelu_custom),
    "gelu_custom_backward": ("GB/s", gelu_custom_backward),
    "softmax": ("GB/s", softmax),
    "layer_norm": ("GB/s", layer_norm),
    "cross_entropy": ("GB/s", cross_entropy),
    "sum_dim0": ("GB/s", sum_dim0),
    "matmul_f32_1024": ("TFLOP/s", matmul(torch.float32)),
    "matmul_bf16_1024": ("TFLOP/s", matmul(torch.bfloat16)),
    "matmul_bf16_8192": ("TFLOP/s", matmul(torch.bfloat16, 8192)),
    "matmul_i8_1024": ("TOP/s", matmul_of_integers(torch.int8)),
    "matmul_i32_1024": ("TOP/s", matmul_of_integers(torch.int32)),
    "conv2d_fwd": ("TFLOP/s", conv2d_fwd),
    "conv2d_bwd": ("TFLOP/s", conv2d_bwd),
    "sort": ("ms", tensor_op(lambda x: x.sort(1), ROWS)),
    "topk": ("ms", tensor_op(lambda x: x.topk(16, 1), ROWS)),
    "cumsum": ("ms", tensor_op(lambda x: x.cumsum(1), ROWS)),
    "gather": ("ms", tensor_op(lambda x, at: x.gather(1, at), ROWS, "places")),
    "scatter": ("ms", tensor_op(lambda x, y, at: x.scatter_add(1, at, y), ROWS, ROWS, "places")),
    "fft": ("ms", tensor_op(lambda x: torch.fft.rfft(x), ROWS)),
    "svd": ("ms", tensor_op(lambda x: torch.linalg.svd(x, full_matrices=False), (16, 64, 64))),
    "solve": ("ms", tensor_op(torch.linalg.solve, (16, 128, 128), (16, 128, 16))),
    "interpolate": ("GB/s", interpolate),
    "grid_sample": ("GB/s", grid_sample),
    "attention_bf16_fwd": ("TFLOP/s", attention_fwd),
    "attention_bf16_bwd": ("TFLOP/s", attention_bwd),
    "op_dispatch": ("us/op", op_dispatch),
    "mlp64_step": ("us", step(Mlp, 64)),
    "cnn64_step": ("us", step(Cnn, 64)),
    "cnn512_step": ("us", step(Cnn, 512)),
    "lstm_step": ("ms", lstm_step),
    "chargpt_step": ("tokens/s", chargpt_step),
    "gpt2_step": ("tokens/s", gpt2_step),
    "gpt2_generate": ("ms/token", gpt2_generate),
}
GPU_ONLY = ("matmul_bf16_8192", "attention_bf16_fwd", "attention_bf16_bwd", "gpt2_step", "gpt2_generate")  # hopeless elsewhere: left out unless they are named
CPU_ONLY = ("matmul_i8_1024", "matmul_i32_1024")  # CUDA's PyTorch has none


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--mode", default="eager", choices=["eager", "compile", "graph", "both"])
    parser.add_argument("--inner", type=int, default=0)
    parser.add_argument("--memory", action="store_true")
    args = parser.parse_args()
    global GPU, MODE, CALLS
    GPU, MODE, CALLS = args.device == "cuda", args.mode, args.inner
    if GPU:
        torch.set_default_device("cuda")
    torch.set_num_threads(args.threads)
    only = [name for name in args.only.split(",") if name]
    unknown = [name for name in only if name not in BENCHMARKS]
    if unknown:
        sys.exit(f"torch_bench: no benchmark {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    for name, (unit, run) in BENCHMARKS.items():
        if only and name not in only or not only and name in (CPU_ONLY if GPU else GPU_ONLY):
            continue
        if not only and name == "gpt2_generate" and MODE in ("graph", "both"):
            continue
        if GPU:
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        samples = sorted(run(args.seconds))
        memory = {"peak_gib": round(torch.cuda.max_memory_allocated() / 2**30, 3)} if GPU and args.memory else {}
        pick = lambda q: samples[min(len(samples) - 1, int(q * len(samples)))]
        print(json.dumps({"bench": name, "device": "torch" if MODE == "eager" else f"torch {MODE}", "value": float(f"{statistics.median(samples):.4g}"), "unit": unit,
                          "better": "lower" if unit in ("us", "us/op", "ms", "ms/token") else "higher", "n": len(samples),
                          "p10": float(f"{pick(.1):.4g}"), "p90": float(f"{pick(.9):.4g}"), **memory}), flush=True)


if __name__ == "__main__":
    main()
