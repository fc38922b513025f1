#!/usr/bin/env python3
"""The output of `guide train` when it is not a terminal: a few lines of plain text.

usage: guide_log_test.py GUIDE
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

GUIDE = sys.argv.pop()
EPOCHS = 10


class Log(unittest.TestCase):
    def test_has_few_lines_without_control_characters(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "log"
            with open(log, "wb") as out:
                command = [GUIDE, "train", "--epochs", str(EPOCHS), "--artifacts", str(pathlib.Path(folder) / "run")]
                subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=True)
            text = log.read_text()
        self.assertFalse([c for c in text if ord(c) < 32 and c != "\n" or ord(c) == 127])
        lines = text.splitlines()
        self.assertLess(len(lines), 100)
        epochs = [line for line in lines if line.startswith("epoch ")]
        self.assertEqual(len(epochs), EPOCHS)
        self.assertTrue(lines[-1].startswith("test accuracy: "), lines[-1])


if __name__ == "__main__":
    unittest.main()
