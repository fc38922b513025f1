"""The training of examples/dqn in PyTorch: the same carts, network, exploration and optimizer, other random numbers.

usage: dqn.py [--seeds 1 2 3] [--steps 40000] [--lr 1e-3]

Prints, for each seed, the mean reward of the last 100 episodes and of 20 episodes without exploring.
"""
import argparse
import collections
import math
import random

import torch
from torch import nn


class CartPole:
    """Gym's CartPole-v1."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.reset()

    def reset(self):
        self.state = [self.rng.uniform(-0.05, 0.05) for _ in range(4)]
        self.steps = 0

    def step(self, action):  # returns whether the pole has fallen, and whether the episode is over
        x, v, angle, w = self.state
        force = 10.0 if action == 1 else -10.0
        cosine, sine = math.cos(angle), math.sin(angle)
        pushed = (force + 0.05 * w * w * sine) / 1.1
        angle_acceleration = (9.8 * sine - cosine * pushed) / (0.5 * (4 / 3 - 0.1 * cosine * cosine / 1.1))
        acceleration = pushed - 0.05 * angle_acceleration * cosine / 1.1
        x, v = x + 0.02 * v, v + 0.02 * acceleration
        angle, w = angle + 0.02 * w, w + 0.02 * angle_acceleration
        self.state = [x, v, angle, w]
        self.steps += 1
        fallen = abs(x) > 2.4 or abs(angle) > 12 * 2 * math.pi / 360
        return fallen, fallen or self.steps >= 500


def network():
    return nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 2))


def best_actions(net, carts):
    with torch.no_grad():
        return net(torch.tensor([cart.state for cart in carts])).argmax(1).tolist()


def train(seed, steps, lr, batch=128, gamma=0.99, tau=0.02, warmup=1000):
    torch.manual_seed(seed)
    rng = random.Random(seed)
    net, target = network(), network()
    target.load_state_dict(net.state_dict())
    optimizer = torch.optim.Adam(net.parameters(), lr=lr, eps=1e-8)
    carts = [CartPole(seed + i) for i in range(8)]
    replay, lately = collections.deque(maxlen=20000), collections.deque(maxlen=100)
    for step in range(0, steps, len(carts)):
        share = min(max((step - warmup) / 10000, 0.0), 1.0)
        explored = 1 + share * (0.05 - 1)
        for cart, best in zip(carts, best_actions(net, carts)):
            action = rng.randrange(2) if rng.random() < explored else best
            before = cart.state
            fallen, over = cart.step(action)
            replay.append((before, action, cart.state, 0.0 if fallen else 1.0))
            if over:
                lately.append(cart.steps)
                cart.reset()
        if step < warmup:
            continue
        states, actions, after, follow = zip(*(replay[rng.randrange(len(replay))] for _ in range(batch)))
        states, after = torch.tensor(states), torch.tensor(after)
        with torch.no_grad():
            chosen = net(after).argmax(1, keepdim=True)
            wanted = 1 + torch.tensor(follow)[:, None] * gamma * target(after).gather(1, chosen)
        loss = nn.functional.huber_loss(net(states).gather(1, torch.tensor(actions)[:, None]), wanted)
        optimizer.param_groups[0]["lr"] = lr * (1 - 0.99 * step / steps)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 10)
        optimizer.step()
        with torch.no_grad():
            for now, slow in zip(net.parameters(), target.parameters()):
                slow.lerp_(now, tau)
    return net, sum(lately) / max(len(lately), 1)


def play(net, episodes, seed):
    carts = [CartPole(seed + i) for i in range(episodes)]
    going, total = carts, 0
    while going:
        actions = best_actions(net, going)
        ended = [cart.step(action)[1] for cart, action in zip(going, actions)]
        total += sum(cart.steps for cart, end in zip(going, ended) if end)
        going = [cart for cart, end in zip(going, ended) if not end]
    return total / episodes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--steps", type=int, default=40000)
    parser.add_argument("--lr", type=float, default=1e-3)
    args = parser.parse_args()
    for seed in args.seeds:
        net, reward = train(seed, args.steps, args.lr)
        print(f"seed {seed}: training {reward:.1f}, without exploring {play(net, 20, seed + 1000):.1f}", flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
