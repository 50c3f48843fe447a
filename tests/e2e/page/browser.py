"""What the tests of the HTML page share: a page of recorded documents in Chromium.

Each test is called as TEST.py FATHOM RECORDINGS WORK_FOLDER [METHOD...]. Needs Debian's chromium,
chromium-driver and python3-selenium.
"""

import functools
import json
import pathlib
import re
import subprocess
import sys
import unittest

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

FATHOM, RECORDINGS, WORK = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
CHARTS = ["latency", "bandwidth", "ladder", "roofline", "warp", "topology", "history", "compare",
          "probes"]
VIEWS = ["overview", "facts", "claims", *CHARTS]
H200 = [RECORDINGS / "h200" / f for f in ("result.json", "atlas/result.json", "gemm/result.json")]
H100 = RECORDINGS / "h100-80gb-hbm3/atlas/result.json"
ROOT = RECORDINGS.parent
# The answer of an H100 on tests/gpu/explain_app.cpp, shortened to six kernels.
EXPLAINED = ROOT / "tests/data/explain/h100.json"
EVIL = ("</script><script>document.title='owned'</script>"
        '<img src=x onerror="owned=1">{{data}}')
CHROMIUM = ["--headless=new", "--no-sandbox", "--disable-gpu"]


def fathom(*arguments):
    return subprocess.run([FATHOM, *map(str, arguments)], capture_output=True, text=True,
                          timeout=300, check=False)


def succeeds(*arguments):
    ran = fathom(*arguments)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@functools.lru_cache(maxsize=None)
def page(name, *documents):
    out = WORK / f"{name}.html"
    succeeds("report", "--html", *documents, "--out", out)
    return out


def edited(name, change, of=H200[0]):
    document = json.loads(of.read_text())
    change(document)
    path = WORK / f"{name}.json"
    path.write_text(json.dumps(document))
    return path


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        options = webdriver.ChromeOptions()
        for flag in (*CHROMIUM, "--disable-dev-shm-usage", "--force-device-scale-factor=1"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        cls.chrome = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        cls.chrome.set_script_timeout(120)
        cls.addClassCleanup(cls.chrome.quit)

    def setUp(self):
        self.size(1400)

    def tearDown(self):
        """No page logs an error or a warning, or asks for anything elsewhere."""
        wrong = [e for e in self.chrome.get_log("browser") if e["level"] in ("SEVERE", "WARNING")]
        self.assertEqual(wrong, [])
        for line in self.chrome.get_log("performance"):
            message = json.loads(line["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self.assertRegex(message["params"]["request"]["url"], "^(file|data|about|blob):")

    def size(self, width, height=1000):
        self.chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def get(self, file, state=""):
        self.chrome.get("about:blank")
        self.chrome.get(f"file://{file}#{state}")

    def open(self, file, state=""):
        """As `get`, and waits for the charts that belong there."""
        self.get(file, state)
        view = re.search("view=(\\w+)", state)
        if view and view[1] in CHARTS and "probe=" not in state:
            self.wait(".chart svg")

    def own(self, state=""):
        self.open(page("own", *H200), state)

    def until(self, holds, seconds=20):
        WebDriverWait(self.chrome, seconds).until(lambda _: holds())

    def until_state(self, text):
        self.until(lambda: text in self.state())

    def wait(self, selector):
        self.until(lambda: self.all(selector))
        return self.all(selector)[0]

    def all(self, selector):
        return self.chrome.find_elements(By.CSS_SELECTOR, selector)

    def points(self):
        return self.all(".chart svg .mark-symbol.role-mark path")

    def rows(self):
        return self.all("main tbody tr")

    def script(self, text, *arguments):
        return self.chrome.execute_script("return " + text, *arguments)

    def focus(self, element):
        self.chrome.execute_script("arguments[0].focus()", element)

    def press(self, key):
        webdriver.ActionChains(self.chrome).send_keys(key).perform()

    def main(self):
        return self.all("main")[0].text

    def says(self, *texts):
        shown = self.main()
        for text in texts:
            self.assertIn(text, shown)

    def state(self):
        return self.script("decodeURIComponent(location.hash)")

    def assert_fits(self, width):
        self.assertLessEqual(self.script("document.documentElement.scrollWidth"), width)

    def assert_not_owned(self):
        self.assertNotEqual(self.chrome.title, "owned")
        self.assertFalse(self.script("'owned' in window"))

    def assert_labels_apart(self):
        """No texts of one chart overlap, or run together on a line."""
        self.assertEqual(self.script("""(() => { const met = [];
          for (const svg of document.querySelectorAll('.chart svg')) {
            const boxes = [...svg.querySelectorAll('text')].filter(t => t.textContent &&
              getComputedStyle(t).opacity !== '0' && t.getAttribute('opacity') !== '0')
              .map(t => [t.textContent, t.getBoundingClientRect()]).filter(b => b[1].width > 0);
            for (let i = 0; i < boxes.length; ++i) for (let j = i + 1; j < boxes.length; ++j) {
              const [a, b] = [boxes[i][1], boxes[j][1]], by = -1;
              if (a.left + by < b.right && b.left + by < a.right &&
                  a.top + 2 < b.bottom && b.top + 2 < a.bottom)
                met.push([boxes[i][0], boxes[j][0]]); } }
          return met; })()"""), [])
