"""The training steps and the generation of torch_bench.py."""
import sys

import torch
import torch.nn.functional as F
from torch import nn

import torch_timing as timing
from torch_models import CharGpt, Gpt2, gpt2_tokens
from torch_timing import micro, rate, repeat


def captured(body):
    """Captures the whole step as a CUDA graph."""
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
    """A step with Adam; depending on timing.MODE, `loss` is compiled and the whole step captured."""
    graph = timing.MODE in ("graph", "both")
    optim = torch.optim.Adam(net.parameters(), lr=1e-3, **({"capturable": True} if graph else {}))
    if timing.MODE in ("compile", "both"):
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
        return micro(repeat(training(net, lambda: F.cross_entropy(net(images), targets)), s, 100 if timing.GPU else 10))
    return run


def lstm_step(s):
    """Milliseconds of a step with Adam: two layers of 512, 64 sequences of 128 steps, the mean square as the loss."""
    torch.manual_seed(1)
    net = nn.LSTM(512, 512, 2, batch_first=True)
    x = torch.rand(64, 128, 512) * 2 - 1
    return [1e3 * t for t in repeat(training(net, lambda: net(x)[0].square().mean()), s, 10 if timing.GPU else 1)]


def chargpt_step(s):
    torch.manual_seed(1)
    net = CharGpt()
    optim = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.1)
    i = torch.arange(12 * 256 + 1)
    text = i * i % 101 % 65
    loss = lambda: F.cross_entropy(net(text[:-1].view(12, 256)), text[1:])
    if timing.MODE in ("compile", "both"):
        loss = torch.compile(loss)

    def body():
        optim.zero_grad()
        loss().backward()
        optim.step()
    return rate(repeat(body, s), 12 * 256)


def gpt2_step(s):
    """Products in bf16, weights, loss and AdamW in f32; 16 pieces of 1,024 tokens, which are already on the device."""
    torch.manual_seed(1)
    net = Gpt2()
    graph = timing.MODE in ("graph", "both")
    options = {"fused": True} if timing.GPU else {}
    if graph:
        options["capturable"] = True
    optim = torch.optim.AdamW(net.parameters(), lr=1e-4, weight_decay=0.1, **options)
    text = gpt2_tokens(16, 1025)
    before, after = text[:, :-1].contiguous(), text[:, 1:].reshape(-1)

    def loss():
        with torch.autocast("cuda" if timing.GPU else "cpu", dtype=torch.bfloat16):
            return F.cross_entropy(net(before), after)
    if timing.MODE == "compile":
        loss = torch.compile(loss, mode="max-autotune")  # uses its own CUDA graphs
    elif timing.MODE == "both":
        loss = torch.compile(loss, mode="max-autotune-no-cudagraphs")

    def body():
        optim.zero_grad(set_to_none=True)
        loss().backward()
        optim.step()
    return rate(repeat(captured(body).replay if graph else body, s, 5), 16 * 1024)


def gpt2_generate(s):
    """Milliseconds per token, batch 1, all in bf16: 256 tokens after a prompt of 16. No CUDA graphs: shapes grow."""
    if timing.MODE in ("graph", "both"):
        sys.exit("torch_bench: gpt2_generate is eager or compiled")
    torch.manual_seed(1)
    net = Gpt2().to(torch.bfloat16).eval()
    prompt = gpt2_tokens(1, 16)
    continued = torch.compile(net.continued, dynamic=True) if timing.MODE == "compile" else net.continued

    def body():
        text, cache = prompt, []
        for _ in range(256):
            logits, cache = continued(text, cache)
            text = logits.argmax(1, keepdim=True)
    with torch.no_grad():
        return [1e3 * t / 256 for t in repeat(body, s)]
