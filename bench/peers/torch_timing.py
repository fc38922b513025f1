"""The options of torch_bench.py, and the measuring of samples."""
import time

import torch


GPU = False
MODE = "eager"
CALLS = 0


def side():
    return 8192 if GPU else 1024


def calls(on_cpu):
    """Calls per sample, for operations that take a GPU about 100 us."""
    return 32 if GPU else on_cpu


def repeat(body, seconds, inner=1):
    """Seconds per call of `body`, each a mean over `inner` calls, after three samples to warm up."""
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
