#!/usr/bin/env python3
"""The terminal's dashboard on a terminal: tmux presses its keys and reads its screen. usage: terminal_test.py PLAYER

PLAYER is tests/train/events/terminal_player.cc. Exits with 77, which ctest reports as skipped, if there is no tmux.
"""
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PLAYER = ""


def tmux(*arguments):
    return subprocess.run(["tmux", "-L", tmux.server, *arguments], check=True, capture_output=True, text=True).stdout


class Terminal:
    """A shell in its own tmux session."""

    def __init__(self, width, height):
        self.folder = tempfile.TemporaryDirectory()
        tmux.server = f"burn-terminal-test-{time.time_ns()}"  # the server of the previous test may still be ending
        tmux("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height), "env", "-i", "PATH=/usr/bin:/bin",
             "TERM=screen-256color", "LANG=C.UTF-8", "PS1=ready$ ", "/bin/bash", "--norc", "--noprofile")
        tmux("set-option", "-g", "mouse", "on")
        self.wait_for("ready$")

    def close(self):
        tmux("kill-server")
        self.folder.cleanup()

    def run(self, *arguments, seconds=3):
        self.type(f"{PLAYER} {self.folder.name} {seconds} {' '.join(arguments)}; echo status $?")

    def type(self, text):
        tmux("send-keys", "-l", text)
        tmux("send-keys", "Enter")

    def press(self, key):
        tmux("send-keys", key)

    def screen(self):
        return tmux("capture-pane", "-p")

    def wait_for(self, *texts, seconds=20):
        end = time.time() + seconds
        while time.time() < end:
            shown = self.screen()
            if all(text in shown for text in texts):
                return shown
            time.sleep(0.05)
        raise AssertionError(f"{texts} did not come; the screen is\n{self.screen()}")

    def expect_is_given_back(self):
        """The shell accepts commands again, and its terminal echoes what is typed."""
        self.type("stty -a | grep -o ' echo ' ; tty -s && echo is-a-$((40+2))-terminal")
        self.wait_for(" echo ", "is-a-42-terminal")


class Dashboard(unittest.TestCase):
    def on(self, width, height):
        terminal = Terminal(width, height)
        self.addCleanup(terminal.close)
        return terminal

    def test_every_key_does_what_it_says_at_80_by_24(self):
        terminal = self.on(80, 24)
        terminal.run(seconds=30)
        terminal.wait_for("first-run  on cpu", "full history", "printed by the program", "running")
        self.assertEqual(len(terminal.screen().rstrip("\n").split("\n")), 24)
        terminal.press("Right")
        terminal.wait_for("train 9", "%")
        terminal.press("Down")
        terminal.wait_for("recent history")
        terminal.press("Down")
        terminal.wait_for("metric               split")
        terminal.press("Up")
        terminal.press("Up")
        terminal.wait_for("full history")
        terminal.press("Left")
        terminal.press("l")
        terminal.wait_for("log scale")
        terminal.press("l")
        terminal.press("s")
        terminal.wait_for("smoothing 0.90")
        terminal.press("+")
        terminal.wait_for("smoothing 0.95")
        terminal.press("-")
        terminal.press("-")
        terminal.wait_for("smoothing 0.80")
        terminal.press("h")
        terminal.wait_for("close this help")
        terminal.press("h")
        terminal.press("q")
        terminal.wait_for("Stop the training?", "go on")
        terminal.press("c")
        terminal.wait_for("full history", "running")
        terminal.press("q")
        terminal.wait_for("Stop the training?")
        terminal.press("s")
        shown = terminal.wait_for("interrupted by request 0", "after the training", "status 0")
        self.assertNotIn("running", shown)
        terminal.expect_is_given_back()
        written = pathlib.Path(terminal.folder.name, "output.log").read_text()
        self.assertIn("printed by the program", written)
        self.assertNotIn("after the training", written)

    def test_a_click_on_a_tab_shows_its_metric(self):
        terminal = self.on(80, 24)
        terminal.run(seconds=30)
        terminal.wait_for("full history", "Accuracy")
        tabs = terminal.screen().split("\n")[1]
        for name, legend in (("Accuracy", "train 9"), ("Loss", "train 0.")):
            column = tabs.index(name) + 2
            # The bytes that xterm sends to a program that has enabled mouse reports: ESC [ M, then the button, column and line, each plus 32.
            tmux("send-keys", "-H", *(f"{byte:02x}" for byte in (*b"\x1b[M", 32, 32 + column, 32 + 2)))
            tmux("send-keys", "-H", *(f"{byte:02x}" for byte in (*b"\x1b[M", 35, 32 + column, 32 + 2)))
            terminal.wait_for(legend)
        terminal.press("q")
        terminal.wait_for("Stop the training?")
        terminal.press("e")
        terminal.wait_for("status 130")

    def test_a_large_terminal_is_used_whole_and_may_change_its_size(self):
        terminal = self.on(200, 60)
        terminal.run(seconds=30)
        shown = terminal.wait_for("first-run  on cpu", "items/s")
        self.assertEqual(len(shown.rstrip("\n").split("\n")), 60)
        self.assertGreater(max(len(line) for line in shown.split("\n")), 150)
        tmux("resize-window", "-x", "100", "-y", "30")
        time.sleep(1)
        shown = terminal.wait_for("total", "q stop")
        self.assertEqual(len(shown.rstrip("\n").split("\n")), 30)
        terminal.press("q")
        terminal.wait_for("Stop the training?")
        terminal.press("d")
        terminal.wait_for("interrupted by request 1", "status 0")
        terminal.expect_is_given_back()

    def test_the_end_leaves_the_lines_of_the_epochs(self):
        terminal = self.on(80, 24)
        terminal.run(seconds=2)
        terminal.wait_for("epoch 4 train loss 0.1250", "output.log", "after the training", "status 0")
        terminal.expect_is_given_back()

    def test_end_at_once_ends_the_program(self):
        terminal = self.on(80, 24)
        terminal.run(seconds=30)
        terminal.wait_for("full history")
        terminal.press("q")
        terminal.wait_for("Stop the training?")
        terminal.press("e")
        terminal.wait_for("status 130")
        terminal.expect_is_given_back()

    def test_the_terminal_is_given_back_whatever_ends_the_program(self):
        for way, status, words in (("segv", 139, "last words"), ("abort", 134, "last words"), ("exit", 3, ""),
                                   ("throw", 134, "thrown out of a training")):
            with self.subTest(way):
                terminal = Terminal(80, 24)
                try:
                    terminal.run(way, seconds=1)
                    terminal.wait_for(f"status {status}", words)
                    terminal.expect_is_given_back()
                finally:
                    terminal.close()

    def test_signals_from_outside_give_it_back(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGSEGV):
            with self.subTest(number.name):
                terminal = Terminal(80, 24)
                try:
                    terminal.run(seconds=30)
                    terminal.wait_for("full history")
                    found = subprocess.run(["pgrep", "-f", f"^{PLAYER} {terminal.folder.name}"], capture_output=True, text=True)
                    for process in found.stdout.split():
                        subprocess.run(["kill", f"-{number.value}", process], check=True)
                    terminal.wait_for("ready$")
                    terminal.expect_is_given_back()
                finally:
                    terminal.close()

    def test_output_that_is_no_terminal_gets_none(self):
        terminal = self.on(80, 24)
        for number, before, after in ((1, "TERM=dumb", ""), (2, "", "| cat"), (3, "", "< /dev/null")):
            terminal.type(f"{before} {PLAYER} {terminal.folder.name} 1 {after}; echo case-''{number}")  # what is typed, wrapped, is not taken for the answer
            shown = terminal.wait_for(f"\ncase-{number}")
            self.assertEqual(shown.count("\nno terminal"), number)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PLAYER = sys.argv.pop(1)
    if shutil.which("tmux") is None:
        print("terminal_test: skipped, there is no tmux")
        sys.exit(77)
    unittest.main()
