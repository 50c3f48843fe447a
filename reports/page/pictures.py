#!/usr/bin/env python3
"""The pictures of README and docs: charts of the HTML page, as it draws them, light and dark.

    reports/page/pictures.py FATHOM

Only for whoever records: needs Debian's chromium, chromium-driver and python3-selenium. Writes
docs/pictures/NAME-light.svg and NAME-dark.svg; look at each afterwards.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

ROOT = pathlib.Path(__file__).resolve().parents[2]
H200 = ROOT / "recordings/h200"
WIDTH = 860  # of the window; shown at half of it, labels are still legible
PICTURES = {
    "latency": ([H200 / "atlas/result.json"], "view=latency"),
    "bandwidth": ([H200 / "atlas/result.json"], "view=bandwidth&f.operation=load"),
    "ladder-fp16": ([H200 / "gemm/result.json"], "view=ladder&type=fp16&rung=01_wmma_global"),
    "bank-conflicts": ([], "view=warp&stride=2"),
    "waves": ([H200 / "result.json"], "view=probes&probe=tail_effect"),
}


def main(fathom):
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu"):
        options.add_argument(flag)
    chrome = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": WIDTH, "height": 1000, "deviceScaleFactor": 1, "mobile": False})
    with tempfile.TemporaryDirectory() as folder:
        for name, (documents, state) in PICTURES.items():
            page = pathlib.Path(folder) / f"{name}.html"
            subprocess.run([fathom, "report", "--html", *(documents or [H200 / "result.json"]),
                            "--out", page], check=True, stdout=subprocess.DEVNULL)
            for theme in ("light", "dark"):
                chrome.get("about:blank")
                chrome.get(f"file://{page}#{state}&theme={theme}")
                WebDriverWait(chrome, 20).until(lambda c: c.execute_script("return drawn.length"))
                svg = chrome.execute_async_script("drawn[0].view.toSVG().then(arguments[0])")
                short = re.sub(r"(\d\.\d)\d+", r"\1", svg)  # a tenth of a pixel is enough
                (ROOT / f"docs/pictures/{name}-{theme}.svg").write_text(short + "\n")
    chrome.quit()


if __name__ == "__main__":
    main(*sys.argv[1:])
