#!/usr/bin/env python3
"""Stores results of burn-bench in files, and prints them as the tables of docs/performance.md. Called by scripts/bench.

bench/results/HOST.json holds the machine in words and its tables by name. A table has the date, the version (a commit), the
commands, the peer (which PyTorch, where there is one), a note, the columns that were measured and one row per benchmark: its
name, unit, which direction is better, and a number for each column that has one. `ratios` are further columns, [title, a, b]:
how many times better a is than b. `share` is one, [title, column, benchmark]: that column over the row of that benchmark, for
rows of the same unit.

In the document a table stands between `<!-- table HOST NAME -->` and `<!-- end -->`; benchmarks after the name pick rows.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
DOCUMENT = ROOT / "docs" / "performance.md"
MARKED = re.compile(r"(<!-- table (\S+) (\S+)((?: \w+)*) -->\n).*?(<!-- end -->\n)", re.DOTALL)


def number(value):
    """Formats a number with three or four digits and no exponent: 0.164, 61.5, 527,250."""
    if value is None:
        return ""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


def ratio(row, a, b):
    x, y = row.get(a), row.get(b)
    if not x or not y:
        return ""
    return f"{y / x if row['better'] == 'lower' else x / y:.2f}"


def rendered(machine, table, picked):
    columns, ratios, share = table["columns"], table.get("ratios", []), table.get("share")
    titles = ["benchmark", "unit", *columns, *([share[0]] if share else []), *(r[0] for r in ratios)]
    lines = ["| " + " | ".join(titles) + " |", "| --- | --- |" + " ---: |" * (len(titles) - 2)]
    whole = next((row for row in table["rows"] if share and row["bench"] == share[2]), None)
    for row in table["rows"]:
        if picked and row["bench"] not in picked:
            continue
        cells = [f"`{row['bench']}`", row["unit"], *(number(row.get(column)) for column in columns)]
        if share:
            same = whole is not None and row is not whole and row["unit"] == whole["unit"]
            cells.append(f"{row[share[1]] / whole[share[1]]:.2f}" if same and row.get(share[1]) else "")
        cells += [ratio(row, a, b) for _, a, b in ratios]
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", f"{table['date']}, {table['version']}, {machine}."]
    if table.get("peer"):
        lines.append(f"Peer: {table['peer']}.")
    if table.get("note"):
        lines.append(table["note"])
    return "\n".join([*lines, "", "```", *table["commands"], "```", ""])


def load(host):
    path = RESULTS / f"{host}.json"
    try:
        return json.loads(path.read_text())
    except (OSError, json.JSONDecodeError) as error:
        raise SystemExit(f"{path.relative_to(ROOT)}: {error}") from None


def document(text):
    """The document with every table replaced by that of the result files."""
    def table(found):
        host, name, picked = found[2], found[3], found[4].split()
        results = load(host)
        if name not in results["tables"]:
            raise SystemExit(f"docs/performance.md: bench/results/{host}.json has no table \"{name}\"")
        return found[1] + rendered(results["machine"], results["tables"][name], picked) + found[5]
    return MARKED.sub(table, text)


def dumped(value, depth=0):
    """JSON with one row of a table per line."""
    pad = "  " * (depth + 1)
    if isinstance(value, dict) and "bench" not in value:
        inside = [f"{pad}{json.dumps(key)}: {dumped(item, depth + 1)}" for key, item in value.items()]
        return "{\n" + ",\n".join(inside) + "\n" + "  " * depth + "}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(pad + dumped(item, depth + 1) for item in value) + "\n" + "  " * depth + "]"
    return json.dumps(value, ensure_ascii=False)


def save(host, name, command, lines):
    """Stores the medians of `lines` (series, tab, a line of burn-bench) in a table of a host; other tables stay."""
    rows, columns = {}, []
    for line in lines:
        series, _, text = line.rstrip("\n").partition("\t")
        result = json.loads(text)
        row = rows.setdefault(result["bench"], {key: result[key] for key in ("bench", "unit", "better")})
        row.setdefault(series, []).append(result["value"])
        if series not in columns:
            columns.append(series)
    for row in rows.values():
        row.update({series: statistics.median(row[series]) for series in columns if series in row})
    path = RESULTS / f"{host}.json"
    results = json.loads(path.read_text()) if path.exists() else {"host": host, "machine": machine(), "tables": {}}
    own = "now" if "now" in columns else columns[0]
    pairs = [(own, other) if other in ("torch", "before") else (other, own) for other in columns if other != own]
    kept = {key: results["tables"].get(name, {}).get(key) for key in ("peer", "note")}
    results["tables"][name] = {
        "date": datetime.date.today().isoformat(), "version": version(),
        **{key: text for key, text in kept.items() if text}, "commands": [command], "columns": columns,
        "ratios": [[f"{a} / {b}", a, b] for a, b in pairs], "rows": list(rows.values())}
    RESULTS.mkdir(exist_ok=True)
    path.write_text(dumped(results) + "\n")
    print(f"written: bench/results/{path.name}, table {name}")


def machine():
    model = re.search(r"model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return f"{os.cpu_count()} CPUs, {model[1] if model else 'unknown'}"


def version():
    return subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"],
                          check=True, capture_output=True, text=True).stdout.strip()


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = options.add_subparsers(dest="action", required=True)
    actions.add_parser("write", help="write the tables of docs/performance.md")
    actions.add_parser("check", help="exit 1 if write would change the document")
    saving = actions.add_parser("save", help="put the medians of a file of results into bench/results/HOST.json")
    for name in ("host", "table", "command", "file"):
        saving.add_argument(name)
    chosen = options.parse_args()
    if chosen.action == "save":
        with open(chosen.file, encoding="utf-8") as lines:
            save(chosen.host, chosen.table, chosen.command, lines)
        return
    text = DOCUMENT.read_text()
    new = document(text)
    if chosen.action == "write":
        DOCUMENT.write_text(new)
    elif new != text:
        raise SystemExit("docs/performance.md: tables differ from bench/results; scripts/bench --write writes them")


if __name__ == "__main__":
    main()
