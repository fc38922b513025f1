#!/usr/bin/env python3
"""The loss curve of examples/gpt2, or of examples/lora, beside PyTorch's, from the same weights and the same pieces of text.

  gpt2 --data TEXT --steps 0 --generate 0 --save start.safetensors SIZES
  gpt2 --data TEXT --steps 200 --generate 0 --start start.safetensors --losses ours.txt SIZES
  bench/peers/gpt2_curve.py --data TEXT --start start.safetensors --losses ours.txt SIZES

  lora --data TEXT --start base.safetensors --steps 0 --generate 0 --adapters adapters.safetensors SIZES
  lora --data TEXT --start base.safetensors --generate 0 --losses ours.txt SIZES
  bench/peers/gpt2_curve.py --data TEXT --start base.safetensors --adapters adapters.safetensors --losses ours.txt SIZES

SIZES: the same --layers, --heads, --context, --batch, --lr, --warmup, --dtype, --seed each time (lora has no --warmup and
no --dtype: they are 20 and f32), and --alpha. Prints both curves and how far they are apart; fails if the means of any
ten steps differ by more than --noise.
"""
import argparse
import json
import math
import struct
import sys

import torch
import torch.nn.functional as F

import torch_models


class Mt19937_64:
    """std::mt19937_64 with libstdc++'s uniform_int_distribution."""
    MASK = (1 << 64) - 1

    def __init__(self, seed):
        x = [seed & self.MASK]
        for i in range(1, 312):
            x.append((6364136223846793005 * (x[-1] ^ (x[-1] >> 62)) + i) & self.MASK)
        self.x, self.at = x, 312

    def __call__(self):
        x = self.x
        if self.at == 312:
            for i in range(312):
                y = (x[i] & 0xFFFFFFFF80000000) | (x[(i + 1) % 312] & 0x7FFFFFFF)
                x[i] = x[(i + 156) % 312] ^ (y >> 1) ^ (0xB5026F5AA96619E9 if y & 1 else 0)
            self.at = 0
        y = x[self.at]
        self.at += 1
        y ^= (y >> 29) & 0x5555555555555555
        y ^= (y << 17) & 0x71D67FFFEDA60000
        y ^= (y << 37) & 0xFFF7EEE000000000
        return y ^ (y >> 43)

    def below(self, size):
        product = self() * size
        if product & self.MASK < size:
            least = ((1 << 64) - size) % size
            while product & self.MASK < least:
                product = self() * size
        return product >> 64


def tensors_of(path):
    with open(path, "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        header, data = json.loads(file.read(size)), file.read()
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            assert entry["dtype"] == "F32", (name, entry)
            yield name, torch.frombuffer(bytearray(data[begin:end]), dtype=torch.float32).view(entry["shape"])


def load(net, path):
    """Weights under our names; our linear layers have [in, out]."""
    names = {"norm_1": "norm1", "norm_2": "norm2", "project": "out", "expand": "inner", "contract": "outer",
             "gamma": "weight", "beta": "bias"}
    linear = ("qkv", "project", "expand", "contract")
    wanted, given = dict(net.named_parameters()), set()
    for name, tensor in tensors_of(path):
        parts = name.split(".")
        to = ".".join(names.get(part, part) for part in parts)
        if parts[-1] == "weight" and parts[-2] in linear:
            tensor = tensor.t()
        wanted[to].data.copy_(tensor)
        given.add(to)
    missing = set(wanted) - given - {"head.weight"}
    assert not missing, missing


class Adapted(torch.nn.Module):
    """x W + b + scale (x A) B, where only A and B are trained."""
    def __init__(self, linear, scale):
        super().__init__()
        self.linear, self.scale = linear, scale

    def forward(self, x):
        return self.linear(x) + self.scale * (x @ self.lora_a @ self.lora_b)


def adapt(net, path, alpha):
    """Attaches the adapters of a file to the weights that they are named after, and freezes the weights."""
    names = {"project": "out", "expand": "inner", "contract": "outer"}
    for parameter in net.parameters():
        parameter.requires_grad_(False)
    for name, tensor in tensors_of(path):
        *parts, _, which = name.split(".")  # blocks.0.qkv.weight.lora_a
        parts = [names.get(part, part) for part in parts]
        parent, module = net.get_submodule(".".join(parts[:-1])), net.get_submodule(".".join(parts))
        if not isinstance(module, Adapted):
            rank = tensor.shape[1 if which == "lora_a" else 0]
            module = Adapted(module, alpha / rank)
            setattr(parent, parts[-1], module)
        setattr(module, which, torch.nn.Parameter(tensor.clone()))
    return [parameter for parameter in net.parameters() if parameter.requires_grad]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("data", "start", "losses"):
        parser.add_argument("--" + name, required=True)
    for name, value in dict(layers=4, heads=4, context=128, batch=8, warmup=20, seed=42).items():
        parser.add_argument("--" + name, type=int, default=value)
    parser.add_argument("--adapters", default="", help="those that lora begins with")
    parser.add_argument("--alpha", type=float, default=16)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--noise", type=float, default=0.03)
    parser.add_argument("--dtype", default="f32", choices=("f32", "bf16"))
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    with open(options.losses) as file:
        ours = [float(line) for line in file]
    text = open(options.data, "rb").read()
    shapes = {name: tensor.shape for name, tensor in tensors_of(options.start)}
    vocabulary, model = shapes["tokens.weight"]
    net = torch_models.CharGpt(vocabulary, options.context, model, options.layers, options.heads, gelu="tanh")
    net.head.weight = net.tokens.weight
    load(net, options.start)
    adapters = adapt(net, options.adapters, options.alpha) if options.adapters else []
    net.to(options.device)
    if adapters:
        optim = torch.optim.AdamW(adapters, lr=0)
    else:
        optim = torch.optim.AdamW(net.parameters(), lr=0, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1)
    rng, length, steps = Mt19937_64(options.seed), options.context + 1, len(ours)
    theirs = []
    for step in range(steps):
        rate = options.lr * (step + 1) / options.warmup
        if step >= options.warmup:
            done = (step - options.warmup) / max(steps - options.warmup, 1)
            rate = options.lr * (0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * done)))
        optim.param_groups[0]["lr"] = rate
        begins = [rng.below(len(text) - length + 1) for _ in range(options.batch)]
        batch = torch.tensor([list(text[b:b + length]) for b in begins], device=options.device)
        with torch.autocast(options.device.split(":")[0], dtype=torch.bfloat16, enabled=options.dtype == "bf16"):
            loss = F.cross_entropy(net(batch[:, :-1]), batch[:, 1:].reshape(-1))
        optim.zero_grad()
        loss.backward()
        if not adapters:
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1)
        optim.step()
        theirs.append(loss.item())
    means = lambda losses: [sum(losses[i:i + 10]) / len(losses[i:i + 10]) for i in range(0, steps, 10)]
    worst = max(abs(a - b) for a, b in zip(means(ours), means(theirs)))
    for step in range(0, steps, max(steps // 10, 1)):
        print(f"step {step:4}  ours {ours[step]:.4f}  PyTorch {theirs[step]:.4f}")
    print(f"step {steps - 1:4}  ours {ours[-1]:.4f}  PyTorch {theirs[-1]:.4f}")
    print(f"means of ten steps differ by at most {worst:.4f}")
    return 0 if worst <= options.noise else 1


if __name__ == "__main__":
    sys.exit(main())
