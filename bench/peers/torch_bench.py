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

import torch
import torch.nn.functional as F
from torch import nn

import torch_timing as timing
from torch_models import Cnn, Mlp
from torch_steps import chargpt_step, gpt2_generate, gpt2_step, lstm_step, step
from torch_timing import calls, micro, rate, repeat, side


def copy(s):
    size = (1024 if timing.GPU else 64) << 20
    x = torch.zeros(size // 4)
    return rate(repeat(lambda: x.clone(), s, 4), 2 * size / 1e9)


def gelu(x):
    return x * (torch.erf(x / math.sqrt(2)) + 1) / 2


def gelu_custom(s):
    x = torch.randn(1 << (26 if timing.GPU else 22))
    return rate(repeat(lambda: gelu(x), s, calls(4)), 2 * 4 * x.numel() / 1e9)


def gelu_custom_backward(s):
    x = torch.randn(1 << (26 if timing.GPU else 22), requires_grad=True)
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
    """Milliseconds per call on tensors of these shapes; those in `places` have integers below 4096."""
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
GPU_ONLY = ("matmul_bf16_8192", "attention_bf16_fwd", "attention_bf16_bwd", "gpt2_step", "gpt2_generate")  # too slow on a CPU: skipped unless named
CPU_ONLY = ("matmul_i8_1024", "matmul_i32_1024")  # PyTorch does not have these on CUDA


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
    timing.GPU, timing.MODE, timing.CALLS = args.device == "cuda", args.mode, args.inner
    if timing.GPU:
        torch.set_default_device("cuda")
    torch.set_num_threads(args.threads)
    only = [name for name in args.only.split(",") if name]
    unknown = [name for name in only if name not in BENCHMARKS]
    if unknown:
        sys.exit(f"torch_bench: no benchmark {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    for name, (unit, run) in BENCHMARKS.items():
        if only and name not in only or not only and name in (CPU_ONLY if timing.GPU else GPU_ONLY):
            continue
        if not only and name == "gpt2_generate" and timing.MODE in ("graph", "both"):
            continue
        if timing.GPU:
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        samples = sorted(run(args.seconds))
        memory = {"peak_gib": round(torch.cuda.max_memory_allocated() / 2**30, 3)} if timing.GPU and args.memory else {}
        pick = lambda q: samples[min(len(samples) - 1, int(q * len(samples)))]
        print(json.dumps({"bench": name, "device": "torch" if timing.MODE == "eager" else f"torch {timing.MODE}", "value": float(f"{statistics.median(samples):.4g}"), "unit": unit,
                          "better": "lower" if unit in ("us", "us/op", "ms", "ms/token") else "higher", "n": len(samples),
                          "p10": float(f"{pick(.1):.4g}"), "p90": float(f"{pick(.9):.4g}"), **memory}), flush=True)


if __name__ == "__main__":
    main()
