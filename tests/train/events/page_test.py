#!/usr/bin/env python3
"""The browser's dashboard in a browser: scripts/test-page. usage: page_test.py BIN [--screenshots FOLDER]

BIN holds guide and burn-dashboard. Trains for about a minute.
"""
import http.client
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

from browser import Browser

BIN = pathlib.Path()
SCREENSHOTS = None


def status_of(url, method="GET", **headers):
    """The status of the first answer: redirections are not followed."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=20)
    connection.request(method, url.removeprefix(f"http://{parts.netloc}"), headers=headers)
    status = connection.getresponse().status
    connection.close()
    return status


def url_in(lines, expected=r"http://\S+"):
    for line in lines:
        if found := re.search(expected, line):
            return found.group()
    raise AssertionError("the program has ended without printing an address")


def keep(browser, name):
    if SCREENSHOTS:
        browser.screenshot(SCREENSHOTS / f"{name}.png")


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.runs = pathlib.Path(cls.folder.name)
        for seed, rate in ((1, 1e-3), (2, 3e-4), (3, 3e-3)):
            command = [BIN / "guide", "train", "--epochs", "3", "--seed", str(seed), "--lr", str(rate),
                       "--artifacts", cls.runs / f"rate-{rate}"]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def setUp(self):
        self.browser = Browser()
        self.addCleanup(self.browser.close)

    def serve(self, *arguments, program="burn-dashboard"):
        process = subprocess.Popen([BIN / program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        return process

    def expect_no_problems(self):
        self.assertEqual(self.browser.problems(), [])

    def test_three_runs_are_overlaid_and_nothing_comes_from_elsewhere(self):
        browser = self.browser
        url = url_in(self.serve(self.runs, "--address", "127.0.0.1:0").stdout)
        browser.open(url)
        browser.wait_for("document.querySelectorAll('#charts canvas').length == 2")
        self.assertEqual(len(browser.run("return [...document.querySelectorAll('#runs tbody tr')]")), 3)
        curves = "document.querySelectorAll('#charts article:first-child .legend svg').length"
        self.assertEqual(browser.run(f"return {curves}"), 6)  # of three runs, training and validation
        # Each run's colour is on the canvas.
        colors = browser.run("""
            const canvas = document.querySelector('#charts canvas');
            const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
            const found = new Set();
            for (let i = 0; i < pixels.length; i += 4) if (pixels[i + 3] == 255) found.add(`rgb(${pixels[i]}, ${pixels[i + 1]}, ${pixels[i + 2]})`);
            return [...document.querySelectorAll('#runs .swatch')].map((swatch) => found.has(getComputedStyle(swatch).backgroundColor));""")
        self.assertEqual(colors, [True, True, True])
        loaded = browser.run("return performance.getEntriesByType('resource').map((entry) => entry.name)")
        self.assertEqual([name for name in loaded if not name.startswith((url, "data:"))], [])
        keep(browser, "page-light")
        browser.click("[data-key=box1]")
        browser.wait_for(f"{curves} == 4")
        browser.click("[data-key=box1]")
        browser.wait_for(f"{curves} == 6")
        self.expect_no_problems()

    def test_keys_change_scale_smoothing_and_theme(self):
        browser = self.browser
        browser.open(url_in(self.serve(self.runs, "--address", "127.0.0.1:0").stdout))
        browser.wait_for("document.querySelectorAll('#charts canvas').length == 2")
        theme = "document.documentElement.dataset.theme"
        for key, condition in (("l", "document.getElementById('log').checked"), ("s", "document.getElementById('smoothing').value == 0.9"),
                               ("-", "document.getElementById('smoothing').value == 0.85"),
                               ("t", f"{theme} == 'dark'"), ("t", f"{theme} == 'light'"), ("t", f"{theme} == 'dark'")):
            browser.press(key)
            browser.wait_for(condition, seconds=5)
        keep(browser, "page-dark")
        # The choices survive a reload of the page.
        browser.run("location.reload()")
        browser.wait_for(f"{theme} == 'dark' && document.getElementById('log').checked")
        self.expect_no_problems()

    def test_a_drag_zooms_all_charts_and_a_double_click_shows_everything(self):
        browser = self.browser
        browser.open(url_in(self.serve(self.runs, "--address", "127.0.0.1:0").stdout))
        browser.wait_for("document.querySelectorAll('#charts canvas').length == 2")

        def last_step(chart):
            """The step in the legend while the pointer is at the right edge of the chart."""
            over = f"#charts article:nth-child({chart}) .u-over"
            browser.point(over, 0.5)
            browser.point(over, 0.99)
            legend = f"document.querySelector('#charts article:nth-child({chart}) .legend').innerText"
            return int(browser.wait_for(f"{legend}.match(/step (\\d+)/)")[1])

        whole = last_step(1)
        browser.point("#charts article:first-child .u-over", 0.25, "down", 0.4, 0.5, "up")
        for chart in (1, 2):
            self.assertTrue(0.4 * whole < last_step(chart) < 0.55 * whole, f"{last_step(chart)} of {whole}")
        browser.point("#charts article:first-child .u-over", 0.5, "down", "up", "down", "up")
        self.assertEqual(last_step(2), whole)
        browser.point("#charts article:nth-child(2) .u-over", 0.1, "down", 0.2, 0.3, "up")
        self.assertLess(last_step(1), 0.4 * whole)
        browser.press("0")
        self.assertEqual(last_step(1), whole)
        self.expect_no_problems()

    def test_a_stop_from_the_page_leaves_a_checkpoint_that_resumes(self):
        browser = self.browser
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()), "stopped")
        command = ["train", "--epochs", "4", "--artifacts", folder, "--dashboard", "127.0.0.1:0"]
        training = self.serve(*command, program="guide")
        browser.open(url_in(training.stdout))
        browser.wait_for("document.querySelectorAll('#charts canvas').length == 2 && document.querySelector('#runs tbody').innerText.includes('1/4')")
        keep(browser, "page-live")
        browser.press("q")
        browser.wait_for("document.getElementById('ask').open")
        browser.click("#ask button[value='']")
        self.assertIsNone(training.poll())
        browser.click("[data-key=stop0]")
        browser.click("#ask button[value='1']")
        text = training.stdout.read()
        self.assertEqual(training.wait(), 130)
        self.assertIn("asked at the dashboard", text)
        self.assertIn("resume goes on from there", text)
        browser.wait_for("document.getElementById('connection').className == 'lost'")
        resumed = subprocess.run([BIN / "guide", *command, "--resume"], check=True, capture_output=True, text=True).stdout
        self.assertNotIn("epoch 1 train", resumed)
        self.assertIn("epoch 4 train", resumed)
        rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
        self.assertEqual(sorted({row["epoch"] for row in rows if "epoch" in row}), [1, 2, 3, 4])

    def test_what_is_foreign_is_refused(self):
        url = url_in(self.serve(self.runs, "--address", "127.0.0.1:0").stdout)
        self.assertEqual(status_of(url), 200)
        self.assertEqual(status_of(url, Origin="http://evil.example"), 403)
        self.assertEqual(status_of(url, Host="evil.example"), 403)
        self.assertEqual(status_of(url + "api/stop?run=0&checkpoint=1", "POST", Origin="http://evil.example"), 403)
        self.assertEqual(status_of(url + "api/stop?run=0&checkpoint=1", "POST"), 409)  # is over
        url = url_in(self.serve(self.runs, "--address", "0.0.0.0:0").stdout).replace("0.0.0.0", "127.0.0.1")
        self.assertEqual(status_of(url), 303)
        self.assertEqual(status_of(url[:-1]), 401)
        self.assertEqual(status_of(url.split("?")[0]), 401)
        # The page moves the token from the address into a cookie, and works with it.
        self.browser.open(url)
        self.browser.wait_for("document.querySelectorAll('#charts canvas').length == 2")
        self.assertNotIn("token", self.browser.run("return location.href"))
        self.expect_no_problems()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    if "--screenshots" in sys.argv:
        at = sys.argv.index("--screenshots")
        SCREENSHOTS = pathlib.Path(sys.argv[at + 1]).resolve()
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        del sys.argv[at : at + 2]
    unittest.main()
