#!/usr/bin/env python3
"""Shows how a GPU spent a step, from the files of bench/kernel_times.cc: kernels, collectives, both at once, or idle.

usage: bench/kernel_times.py [--top N] FILE...

A step is the time between two runs of the kernel that runs least often, but at least ten times. The first half of a
file is ignored: it has compilation, autotuning and growing memory.
"""

import argparse
import collections
import re


def read(path):
    """Lines as (begin, end, name), in ns, sorted by begin; only those of the second half of the time."""
    rows = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            _device, _stream, begin, end, name = line.rstrip("\n").split(" ", 4)
            rows.append((int(begin), int(end), name))
    rows.sort()
    if not rows:
        return rows
    middle = (rows[0][0] + rows[-1][1]) // 2
    return [row for row in rows if row[0] >= middle]


def is_collective(name):
    return "nccl" in name.lower()


def union(rows):
    """The union of the rows as disjoint intervals."""
    merged = []
    for begin, end, *_ in rows:
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    return merged


def length(intervals):
    return sum(end - begin for begin, end in intervals)


def common(a, b):
    """The total overlap of the intervals in a with those in b."""
    total = i = k = 0
    while i < len(a) and k < len(b):
        total += max(0, min(a[i][1], b[k][1]) - max(a[i][0], b[k][0]))
        if a[i][1] < b[k][1]:
            i += 1
        else:
            k += 1
    return total


def short(name):
    return re.sub(r"\(.*|<.*", "", name)[:70]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--top", type=int, default=12, help="kernels that take the longest")
    arguments.add_argument("files", nargs="+")
    given = arguments.parse_args()
    for path in given.files:
        rows = read(path)
        counts = collections.Counter(name for _, _, name in rows)
        often = [count for count in counts.values() if count >= 10]
        if not often:
            print(f"{path}: {len(rows)} kernels and copies, no step is seen")
            continue
        marker = min((name for name in counts if counts[name] >= 10), key=lambda name: (counts[name], name))
        marks = [begin for begin, _, name in rows if name == marker]
        steps = len(marks) - 1
        rows = [row for row in rows if marks[0] <= row[0] < marks[-1]]
        collectives = union([row for row in rows if is_collective(row[2])])
        kernels = union([row for row in rows if not is_collective(row[2])])
        both = common(kernels, collectives)
        span = marks[-1] - marks[0]

        def ms(nanoseconds, steps=steps):
            return nanoseconds / steps / 1e6

        idle = span - length(kernels) - length(collectives) + both
        print(
            f"{path}: {steps} steps of {ms(span):.2f} ms: computing {ms(length(kernels)):.2f}, collectives "
            f"{ms(length(collectives)):.2f}, of which {ms(both):.2f} beside computing, nothing {ms(idle):.2f}; "
            f"{len(rows) / steps:.0f} kernels and copies"
        )
        spent = collections.defaultdict(lambda: [0, 0])
        for begin, end, name in rows:
            spent[name][0] += end - begin
            spent[name][1] += 1
        for name, (time, count) in sorted(spent.items(), key=lambda item: -item[1][0])[: given.top]:
            print(f"  {ms(time):8.3f} ms  {count / steps:6.1f} times  {short(name)}")


if __name__ == "__main__":
    main()
