#!/usr/bin/env python3
"""What burn-bench measures on several GPUs, in PyTorch: one JSON object a line, under the same names.

Usage: torch_many.py [--gpus N] [--only NAME,..] [--seconds S] [--eager].
allreduce_1m .. allreduce_1024m: GB/s of the bus, 2 (N - 1) / N times the tensor by the time, eight in a row between two
syncs. gpt2_one and gpt2_ddp: tokens a second of torch_bench.py's gpt2_step on one GPU, and of all N by
DistributedDataParallel, 16 pieces on each; compiled by torch.compile, unless --eager. A process for each GPU.
"""
import argparse
import json
import os
import statistics
import sys
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import torch_models  # noqa: E402

SIZES = (1, 25, 256, 1024)


def say(name, unit, samples, **more):
    samples = sorted(samples)
    pick = lambda q: float(f"{samples[min(len(samples) - 1, int(q * len(samples)))]:.4g}")
    print(json.dumps({"bench": name, "device": "torch", "value": float(f"{statistics.median(samples):.4g}"), "unit": unit, "better": "higher",
                      "n": len(samples), "p10": pick(.1), "p90": pick(.9), **more}), flush=True)


def timed(body, seconds, inner, world):
    """Seconds per call, each a mean over `inner` calls; every rank takes the same number of samples."""
    def take():
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(inner):
            body()
        torch.cuda.synchronize()
        return (time.perf_counter() - start) / inner
    for _ in range(3):
        once = take()
    count = torch.tensor([max(5, int(seconds / (once * inner)))], device="cuda")
    if world > 1:
        dist.broadcast(count, 0)
    return [take() for _ in range(int(count))]


def all_reduces(rank, world, args):
    for mib in SIZES:
        if args.only and f"allreduce_{mib}m" not in args.only:
            continue
        x = torch.zeros((mib << 20) // 4, device="cuda")

        def body():
            for _ in range(8):
                dist.all_reduce(x)
        times = timed(body, args.seconds, 10 if mib < 256 else 2, world)
        if rank == 0:
            say(f"allreduce_{mib}m", "GB/s", [8 * 2 * (world - 1) / world * (mib << 20) / 1e9 / t for t in times], gpus=world)
        del x


class Loss(nn.Module):
    """The loss of predicting the next tokens, with products in bf16."""
    def __init__(self):
        super().__init__()
        self.net = torch_models.Gpt2()

    def forward(self, before, after):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            return F.cross_entropy(self.net(before), after)


def gpt2(rank, world, args):
    torch.manual_seed(1)
    loss = Loss().cuda()
    optim = torch.optim.AdamW(loss.parameters(), lr=1e-4, weight_decay=0.1, fused=True)
    text = torch_models.gpt2_tokens(16, 1025)
    before, after = text[:, :-1].contiguous(), text[:, 1:].reshape(-1)
    if world > 1:
        loss = nn.parallel.DistributedDataParallel(loss, device_ids=[rank], gradient_as_bucket_view=True)
    if not args.eager:
        loss = torch.compile(loss)
    start = time.perf_counter()

    def body():
        optim.zero_grad(set_to_none=True)
        loss(before, after).backward()
        optim.step()
    body()
    torch.cuda.synchronize()
    compiling = time.perf_counter() - start
    times = timed(body, args.seconds, 5, world)
    if rank == 0:
        say("gpt2_ddp" if world > 1 else "gpt2_one", "tokens/s", [world * 16 * 1024 / t for t in times], gpus=world,
            compiled_in_s=round(compiling, 1), peak_gib=round(torch.cuda.max_memory_allocated() / 2**30, 3))


def work(rank, world, args):
    torch.cuda.set_device(rank)
    torch.set_default_device("cuda")
    if not args.only or "gpt2_one" in args.only:
        if rank == 0:
            gpt2(0, 1, args)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(args.port))
    dist.init_process_group("nccl", rank=rank, world_size=world, device_id=torch.device("cuda", rank))
    if not args.only or any(name.startswith("allreduce") for name in args.only):
        all_reduces(rank, world, args)
    if not args.only or "gpt2_ddp" in args.only:
        gpt2(rank, world, args)
    dist.barrier()
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpus", type=int, default=torch.cuda.device_count())
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--port", type=int, default=29511)
    parser.add_argument("--eager", action="store_true")
    args = parser.parse_args()
    args.only = [name for name in args.only.split(",") if name]
    if args.gpus < 2:
        sys.exit("torch_many: it takes two GPUs")
    version = ".".join(str(n) for n in torch.cuda.nccl.version())
    print(f"torch {torch.__version__}, NCCL {version}, {args.gpus} of {torch.cuda.get_device_name(0)}", file=sys.stderr, flush=True)
    torch.multiprocessing.spawn(work, (args.gpus, args), nprocs=args.gpus)


if __name__ == "__main__":
    main()
