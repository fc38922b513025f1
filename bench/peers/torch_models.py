"""The models of torch_bench.py's steps: those of bench/ and examples/, in PyTorch."""
import math

import torch
import torch.nn.functional as F
from torch import nn


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


class Block(nn.Module):
    """The attention block of GPT-2, with one matmul for queries, keys and values."""
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
        """The output for tokens after `past` (keys and values [batch, heads, length, depth], or None), and the extended past."""
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


class Gpt2(CharGpt):
    """124M parameters: the head shares the embedding table, GELU is the tanh approximation."""
    def __init__(self):
        super().__init__(vocabulary=50304, context=1024, model=768, layers=12, heads=12, gelu="tanh")
        nn.init.normal_(self.tokens.weight, std=0.02)
        nn.init.normal_(self.positions.weight, std=0.02)
        self.head.weight = self.tokens.weight

    def continued(self, text, cache):
        """The logits of the next token, and the cache extended by `text`."""
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
