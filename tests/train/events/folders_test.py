#!/usr/bin/env python3
"""burn-dashboard without a browser: metrics as CSV, and runs that are removed.

usage: folders_test.py BURN_DASHBOARD TRAINING    TRAINING: a program that trains, with the options --artifacts and --epochs
"""
import csv
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

TRAINING, DASHBOARD = sys.argv.pop(), sys.argv.pop()


def training(folder, epochs):
    return [TRAINING, "--artifacts", str(folder), "--epochs", str(epochs)]


def dashboard(*arguments):
    return subprocess.run([DASHBOARD, *map(str, arguments)], capture_output=True, text=True)


class Folders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.runs = pathlib.Path(folder.name)
        for name in ("first", "second"):
            subprocess.run(training(self.runs / name, 2), check=True, stdout=subprocess.DEVNULL)

    def test_a_metric_of_all_runs_is_csv(self):
        result = dashboard(self.runs, "--csv", "Loss")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = list(csv.DictReader(result.stdout.splitlines()))
        self.assertEqual(list(rows[0]), ["run", "split", "metric", "kind", "epoch", "first_step", "step", "count", "mean", "min", "max"])
        self.assertEqual({pathlib.Path(row["run"]).name for row in rows}, {"first", "second"})
        self.assertEqual({row["metric"] for row in rows}, {"Loss"})
        for run in ("first", "second"):
            own = [row for row in rows if pathlib.Path(row["run"]).name == run]
            epochs = [(row["split"], row["epoch"]) for row in own if row["kind"] == "epoch"]
            self.assertEqual(sorted(epochs), [("train", "1"), ("train", "2"), ("valid", "1"), ("valid", "2")])
            points = [row for row in own if row["split"] == "train" and row["kind"] != "epoch"]
            self.assertEqual(sum(int(row["count"]) for row in points), 200)  # each step once
            for row in points:
                self.assertLessEqual(float(row["min"]), float(row["mean"]))
                self.assertLessEqual(float(row["mean"]), float(row["max"]))

    def test_a_metric_that_nothing_measures_is_an_error_with_those_that_are(self):
        result = dashboard(self.runs, "--csv", "Accuracy")
        self.assertEqual(result.returncode, 1)
        self.assertIn("Accuracy", result.stderr)
        self.assertIn("Loss", result.stderr)
        self.assertEqual(dashboard(self.runs / "none", "--csv", "Loss").returncode, 1)

    def test_old_runs_are_listed_and_then_removed(self):
        note = self.runs / "second" / "note.txt"
        note.write_text("mine")
        self.assertIn("0 runs would be removed", dashboard(self.runs, "--prune", "1").stdout)
        listed = dashboard(self.runs, "--prune", "0").stdout
        self.assertIn("2 runs would be removed", listed)
        self.assertIn(str(self.runs / "first"), listed)
        self.assertTrue((self.runs / "first" / "events").exists())
        self.assertIn("removed 2 runs", dashboard(self.runs, "--prune", "0", "--yes").stdout)
        self.assertFalse((self.runs / "first").exists())
        self.assertEqual([path.name for path in (self.runs / "second").iterdir()], ["note.txt"])

    def test_a_run_of_unknown_age_is_not_removed(self):
        events = self.runs / "first" / "events"
        events.write_bytes(events.read_bytes()[:8])  # the header, without an event
        self.assertIn("removed 1 runs", dashboard(self.runs, "--prune", "0", "--yes").stdout)
        self.assertTrue(events.exists())
        self.assertFalse((self.runs / "second").exists())

    def test_a_run_that_is_under_way_is_not_removed(self):
        running = subprocess.Popen(training(self.runs / "running", 100000), stdout=subprocess.DEVNULL)
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)
        events = self.runs / "running" / "events"
        deadline = time.monotonic() + 60
        while not events.exists() or events.stat().st_size == 0:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        listed = dashboard(self.runs, "--prune", "0", "--yes").stdout
        self.assertIn("removed 2 runs", listed)
        self.assertNotIn("running", listed)
        self.assertTrue(events.exists())


if __name__ == "__main__":
    unittest.main()
