"""The training of examples/wgan in PyTorch: the same ring, networks, losses, optimizers and averages, other random numbers.

usage: wgan.py [--seed 1] [--epochs 40] [--lr 1e-3] [--penalty 1]

Prints how far points of the averaged generator are from the nearest cluster in the mean, and how many of 1,000 are near
the cluster that has the fewest of them.
"""
import argparse
import copy
import math

import torch
from torch import nn

LATENT, WIDTH, BATCH, POINTS = 4, 64, 200, 20000
CENTERS = torch.tensor([[math.cos(2 * math.pi * k / 8), math.sin(2 * math.pi * k / 8)] for k in range(8)])


def network(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, outputs))


def ring(count):
    noise = torch.rand(count, 2) + torch.rand(count, 2) + torch.rand(count, 2) - 1.5
    return CENTERS[torch.randint(8, (count,))] + 0.05 * 2 * noise


def train(args):
    torch.manual_seed(args.seed)
    generator, critic = network(LATENT, 2), network(2, 1)
    average = copy.deepcopy(generator)
    of_generator = torch.optim.Adam(generator.parameters(), args.lr, betas=(0.5, 0.9))
    of_critic = torch.optim.Adam(critic.parameters(), args.lr, betas=(0.5, 0.9))
    data = ring(POINTS)
    for epoch in range(args.epochs):
        order = torch.randperm(POINTS)
        for step, begin in enumerate(range(0, POINTS, BATCH)):
            real = data[order[begin:begin + BATCH]]
            fake = generator(torch.randn(BATCH, LATENT))
            share = torch.rand(BATCH, 1)
            between = (share * real + (1 - share) * fake.detach()).requires_grad_()
            slope, = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
            penalty = ((slope.norm(dim=1) - 1) ** 2).mean()
            loss = critic(fake.detach()).mean() - critic(real).mean() + args.penalty * penalty
            of_critic.zero_grad()
            loss.backward()
            gradients = torch.autograd.grad(-critic(fake).mean(), list(generator.parameters()))
            of_critic.step()
            if step % 5 == 4:
                for parameter, gradient in zip(generator.parameters(), gradients):
                    parameter.grad = gradient
                of_generator.step()
            with torch.no_grad():
                for slow, now in zip(average.parameters(), generator.parameters()):
                    slow.lerp_(now, 0.005)
    return average


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--penalty", type=float, default=1)
    args = parser.parse_args()
    generator = train(args)
    with torch.no_grad():
        nearest = torch.cdist(generator(torch.randn(1000, LATENT)), CENTERS).min(1)
    near = torch.bincount(nearest.indices[nearest.values < 0.2], minlength=8)
    print(f"mean distance to the nearest cluster: {nearest.values.mean():.4f}; of 1000 points the fewest near a cluster: {near.min()}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
