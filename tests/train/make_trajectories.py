#!/usr/bin/env python3
"""Writes PyTorch's trajectories: tests/train/make_trajectories.py > tests/train/trajectories.txt.

Needs PyTorch 1.13 (python3-torch of Debian 12). Optimizers that it lacks are implemented here, in double precision:
Adafactor by PyTorch 2.5's documentation, Lion by algorithm 2 of arXiv:2302.06675, Adan by algorithm 1 of
arXiv:2208.06677, and NAdam, in which 1.13 multiplies mu_t into the product twice (corrected in 2.0).

A line is NAME STEP NUMBERS. For L-BFGS ("lbfgs.NAME"), the numbers are the 4 numbers x after STEP steps on valley(x).
For another optimizer, they are the 12 elements of a [3, 4] parameter (for NAME.vector: the first 4, as a vector) after
STEP steps. For a schedule ("lr.NAME"), they are the rates of steps 0, 1, ... The parameter starts as draw(0), and the
gradient of step t is draw(t) + parameter / 4.
"""
import math

import torch

SHAPE = (3, 4)
STEPS = (1, 2, 10, 100)


def draw(t):
    """12 numbers in [-1, 1] of 11 bits; draw(0) is the initial parameter."""
    state, numbers = (12345 + 6789 * t) % 2**31, []
    for _ in range(12):
        state = (state * 1103515245 + 12345) % 2**31
        numbers.append(((state >> 16) % 2001 - 1000) / 1024)
    return torch.tensor(numbers, dtype=torch.float64)


def write(name, step, numbers):
    print(name, step, *(format(float(x), ".9g") for x in numbers))


def run(name, make, lr_of=None, is_vector=False):
    def shaped(t):
        return draw(t)[:4].clone() if is_vector else draw(t).reshape(SHAPE)

    parameter = torch.nn.Parameter(shaped(0))
    optimizer = make([parameter])
    for t in range(1, max(STEPS) + 1):
        if lr_of is not None:
            optimizer.param_groups[0]["lr"] = lr_of(t)
        parameter.grad = shaped(t) + parameter.detach() / 4
        optimizer.step()
        if t in STEPS:
            write(name, t, parameter.detach().flatten())


class Lion(torch.optim.Optimizer):
    def __init__(self, parameters, lr, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(parameters, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                m = state.setdefault("m", torch.zeros_like(p))
                beta_1, beta_2 = group["betas"]
                update = torch.sign(beta_1 * m + (1 - beta_1) * p.grad)
                p.copy_(p - group["lr"] * (update + group["weight_decay"] * p))
                state["m"] = beta_2 * m + (1 - beta_2) * p.grad


class NAdam(torch.optim.Optimizer):
    def __init__(self, parameters, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, momentum_decay=4e-3):
        super().__init__(parameters, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, psi=momentum_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state, (beta_1, beta_2), lr = self.state[p], group["betas"], group["lr"]
                g = p.grad + group["weight_decay"] * p
                t = state["t"] = state.get("t", 0) + 1
                mu, next_mu = (beta_1 * (1 - 0.5 * 0.96 ** (i * group["psi"])) for i in (t, t + 1))
                product = state["product"] = state.get("product", 1.0) * mu
                m = state["m"] = beta_1 * state.get("m", 0) + (1 - beta_1) * g
                v = state["v"] = beta_2 * state.get("v", 0) + (1 - beta_2) * g * g
                below = (v / (1 - beta_2**t)).sqrt() + group["eps"]
                p.sub_(lr * ((1 - mu) / (1 - product) * g + next_mu / (1 - product * next_mu) * m) / below)


class Adafactor(torch.optim.Optimizer):
    """With eps[0] = 2^-23, PyTorch's default for f32 parameters."""

    def __init__(self, parameters, lr=1e-2, beta2_decay=-0.8, eps=(2.0**-23, 1e-3), d=1.0, weight_decay=0.0):
        super().__init__(parameters, dict(lr=lr, beta2_decay=beta2_decay, eps=eps, d=d, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state, g = self.state[p], p.grad
                t = state["t"] = state.get("t", 0) + 1
                eps_1, eps_2 = group["eps"]
                fresh = t ** group["beta2_decay"]
                rho = min(group["lr"], 1 / math.sqrt(t))
                alpha = max(eps_2, float(p.norm()) / math.sqrt(p.numel())) * rho
                p.mul_(1 - group["lr"] * group["weight_decay"])
                square = g * g
                if g.dim() > 1:
                    row = state.setdefault("row", torch.zeros_like(square.mean(-1, keepdim=True)))
                    column = state.setdefault("column", torch.zeros_like(square.mean(-2, keepdim=True)))
                    row.copy_(row * (1 - fresh) + square.mean(-1, keepdim=True) * fresh)
                    column.copy_(column * (1 - fresh) + square.mean(-2, keepdim=True) * fresh)
                    variance = row @ column / row.mean(-2, keepdim=True).clamp(min=eps_1)
                else:
                    kept = state.setdefault("variance", torch.zeros_like(g))
                    kept.copy_(kept * (1 - fresh) + square * fresh)
                    variance = kept.clone()
                update = g / variance.clamp(min=eps_1 * eps_1).sqrt()
                clip = max(1.0, float(update.norm()) / (math.sqrt(g.numel()) * group["d"]))
                p.sub_(update * (alpha / clip))


class Adan(torch.optim.Optimizer):
    """With the first difference 0; betas weigh the old values, where the paper's weigh the new ones."""

    def __init__(self, parameters, lr, betas=(0.98, 0.92, 0.99), eps=1e-8, weight_decay=0.0):
        super().__init__(parameters, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state, g, (beta_1, beta_2, beta_3) = self.state[p], p.grad.clone(), group["betas"]
                t = state["t"] = state.get("t", 0) + 1
                difference = g - state.get("g", g)
                state["g"] = g
                m = state["m"] = beta_1 * state.get("m", 0) + (1 - beta_1) * g
                v = state["v"] = beta_2 * state.get("v", 0) + (1 - beta_2) * difference
                n = state["n"] = beta_3 * state.get("n", 0) + (1 - beta_3) * (g + beta_2 * difference) ** 2
                update = m / (1 - beta_1**t) + beta_2 * v / (1 - beta_2**t)
                p.sub_(group["lr"] * update / ((n / (1 - beta_3**t)).sqrt() + group["eps"]))
                p.div_(1 + group["lr"] * group["weight_decay"])


def valley(x):
    """Rosenbrock's function of 4 numbers."""
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def lbfgs(name, lr, steps, **options):
    x = torch.nn.Parameter(torch.tensor([-0.5, 0.25, 0.75, 0.5], dtype=torch.float64))
    optimizer = torch.optim.LBFGS([x], lr=lr, **options)

    def closure():
        optimizer.zero_grad()
        loss = valley(x)
        loss.backward()
        return loss

    for t in range(1, steps + 1):
        optimizer.step(closure)
        write("lbfgs." + name, t, x.detach())


def optimizers():
    o = torch.optim
    lbfgs("wolfe", 1, 4, max_iter=4, line_search_fn="strong_wolfe")
    lbfgs("fixed", 0.1, 4, max_iter=3)
    lbfgs("short", 1, 4, max_iter=5, history_size=2, line_search_fn="strong_wolfe")
    run("adan", lambda p: Adan(p, lr=0.01))
    run("adan.decay", lambda p: Adan(p, lr=0.02, betas=(0.9, 0.8, 0.95), eps=1e-6, weight_decay=0.1))
    run("sgd", lambda p: o.SGD(p, lr=0.05))
    run("sgd.momentum", lambda p: o.SGD(p, lr=0.05, momentum=0.9, weight_decay=0.1))
    run("sgd.nesterov", lambda p: o.SGD(p, lr=0.05, momentum=0.8, nesterov=True))
    run("adam", lambda p: o.Adam(p, lr=0.01))
    run("adam.amsgrad", lambda p: o.Adam(p, lr=0.01, weight_decay=0.1, amsgrad=True))
    run("adamw", lambda p: o.AdamW(p, lr=0.01))
    run("rms_prop", lambda p: o.RMSprop(p, lr=0.01))
    run("rms_prop.centered", lambda p: o.RMSprop(p, lr=0.01, momentum=0.5, centered=True, weight_decay=0.1))
    run("ada_grad", lambda p: o.Adagrad(p, lr=0.05, lr_decay=0.01))
    run("nadam", lambda p: NAdam(p))
    run("nadam.decay", lambda p: NAdam(p, lr=0.01, momentum_decay=0.02, weight_decay=0.1))
    run("radam", lambda p: o.RAdam(p, lr=0.01))
    run("radam.decay", lambda p: o.RAdam(p, lr=0.01, betas=(0.8, 0.99), weight_decay=0.1))
    run("ada_delta", lambda p: o.Adadelta(p))
    run("ada_delta.decay", lambda p: o.Adadelta(p, lr=0.5, rho=0.95, weight_decay=0.1))
    run("lion", lambda p: Lion(p, lr=0.01))
    run("lion.decay", lambda p: Lion(p, lr=0.01, betas=(0.95, 0.98), weight_decay=0.1))
    run("ada_factor", lambda p: Adafactor(p))
    run("ada_factor.decay", lambda p: Adafactor(p, lr=0.1, beta2_decay=-0.6, d=0.5, weight_decay=0.1))
    run("ada_factor.vector", lambda p: Adafactor(p), is_vector=True)


def rates(name, make, steps, tell=None, lr=0.5):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=lr, momentum=0.9)
    schedule = make(optimizer)
    seen = []
    for i in range(steps):
        seen.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step(*([] if tell is None else [tell(i)]))
    write("lr." + name, 0, seen)


def schedules():
    s = torch.optim.lr_scheduler
    rates("one_cycle", lambda o: s.OneCycleLR(o, max_lr=0.5, total_steps=40), 40)
    rates("one_cycle.linear", lambda o: s.OneCycleLR(o, 0.5, total_steps=40, pct_start=0.4, anneal_strategy="linear",
                                                     div_factor=10, final_div_factor=100), 40)
    rates("one_cycle.three", lambda o: s.OneCycleLR(o, 0.5, total_steps=40, pct_start=0.25, three_phase=True), 40)
    rates("cosine_restarts", lambda o: s.CosineAnnealingWarmRestarts(o, 5, eta_min=0.01), 20)
    rates("cosine_restarts.longer", lambda o: s.CosineAnnealingWarmRestarts(o, 3, T_mult=2), 40)
    rates("polynomial", lambda o: s.PolynomialLR(o, total_iters=10, power=2), 15)
    rates("multi_step", lambda o: s.MultiStepLR(o, [3, 7, 8], gamma=0.5), 12)
    rates("cyclic", lambda o: s.CyclicLR(o, 0.1, 0.5, step_size_up=4, step_size_down=6), 30)
    rates("cyclic.halving", lambda o: s.CyclicLR(o, 0.1, 0.5, step_size_up=5, mode="triangular2"), 30)
    rates("cyclic.exponential", lambda o: s.CyclicLR(o, 0.1, 0.5, step_size_up=5, mode="exp_range", gamma=0.9), 30)
    losses = [float(draw(i)[0]) / (1 + i / 4) for i in range(1, 41)]
    rates("plateau", lambda o: s.ReduceLROnPlateau(o, factor=0.5, patience=2, cooldown=1, min_lr=0.01), 40,
          lambda i: losses[i])
    rates("plateau.higher", lambda o: s.ReduceLROnPlateau(o, mode="max", factor=0.1, patience=3, threshold=0.01,
                                                          threshold_mode="abs"), 40, lambda i: losses[i])


optimizers()
schedules()
