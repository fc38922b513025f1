"""Headless Chromium, controlled by WebDriver: needs chromium and chromedriver, but no Python package."""
import base64
import json
import pathlib
import subprocess
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the key of an element's id, by the WebDriver standard


class Browser:
    def __init__(self, width=1400, height=1000):
        line = ""
        while not line:  # the port that it has chosen may be taken meanwhile: then it ends, and another one is chosen
            self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            line = next((line for line in self.driver.stdout if "successfully" in line), "")
            if not line:
                self.driver.wait()
                self.driver.stdout.close()
        port = line.split()[-1].rstrip(".")
        self.address = f"http://127.0.0.1:{port}"
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--window-size={width},{height}",
                     "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"]  # offline
        options = {"goog:chromeOptions": {"args": arguments}, "goog:loggingPrefs": {"browser": "ALL"}}
        self.session = ""
        self.session = "/session/" + self.request("POST", "/session", {"capabilities": {"alwaysMatch": options}})["sessionId"]

    def close(self):
        self.request("DELETE", "")
        self.driver.terminate()
        self.driver.wait()
        self.driver.stdout.close()

    def request(self, method, path, data=None):
        body = json.dumps(data or {}).encode() if method == "POST" else None
        request = urllib.request.Request(self.address + self.session + path, method=method, data=body,
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {json.load(error)['value']['message']}") from None

    def open(self, url):
        self.request("POST", "/url", {"url": url})

    def run(self, script):
        """The value of a JavaScript function body."""
        return self.request("POST", "/execute/sync", {"script": script, "args": []})

    def wait_for(self, condition, seconds=60):
        end = time.time() + seconds
        while time.time() < end:
            if value := self.run(f"return {condition}"):
                return value
            time.sleep(0.1)
        raise AssertionError(f"did not come: {condition}; the page says\n{self.run('return document.body.innerText')}")

    def click(self, selector):
        found = self.request("POST", "/element", {"using": "css selector", "value": selector})
        self.request("POST", f"/element/{found[ELEMENT]}/click")

    def press(self, key):
        actions = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self.request("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def point(self, selector, x, *then):
        """Moves the pointer onto an element, to the part x of its width. `then`: "down", "up", or the next x."""
        box = self.run(f"const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect(); return [box.left, box.top, box.width, box.height];")

        def move(part):
            return {"type": "pointerMove", "duration": 50, "x": round(box[0] + part * box[2]), "y": round(box[1] + box[3] / 2)}

        actions = [move(x)]
        for step in then:
            actions.append({"type": f"pointer{step.title()}", "button": 0} if isinstance(step, str) else move(step))
        pointer = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}
        self.request("POST", "/actions", {"actions": [pointer]})

    def problems(self):
        """The errors in the console, including refusals by the content security policy."""
        return [entry["message"] for entry in self.request("POST", "/se/log", {"type": "browser"})]

    def screenshot(self, path):
        pathlib.Path(path).write_bytes(base64.b64decode(self.request("GET", "/screenshot")))
