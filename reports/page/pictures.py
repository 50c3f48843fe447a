#!/usr/bin/env python3
"""The pictures of README and docs: charts of the HTML page, as it draws them, light and dark.

    reports/page/pictures.py FATHOM

Only for whoever records: needs Debian's chromium, chromium-driver and python3-selenium. Writes
docs/pictures/NAME-light.svg and NAME-dark.svg, and the gate's two curves from the tables of
docs/gate/noise.md; look at each afterwards.
"""

import json
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
# What share of slowdowns the gate confirms: how the table of docs/gate/noise.md begins.
CURVES = {"power": "| Slowdown", "measured": "| More work | Confirmed |"}


def curve(heading, colour):
    """The chart of a table whose rows have a slowdown, "3 %", and a share with its interval."""
    lines = (ROOT / "docs/gate/noise.md").read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(heading))
    rows = []
    for line in lines[start + 2:]:
        found = re.match(r"\| ([\d.]+) \|.*? ([\d.]+) \(([\d.]+) to ([\d.]+)\)",
                         line.replace(" %", ""))
        if not found:
            break
        rows.append(dict(zip(("slowdown", "share", "low", "high"), map(float, found.groups()))))

    def y(field):
        return {"field": field, "type": "quantitative", "scale": {"domain": [0, 100]},
                "axis": {"title": "Confirmed (%)"}}
    x = {"field": "slowdown", "type": "quantitative",
         "scale": {"domain": [0, 1.02 * rows[-1]["slowdown"]], "nice": False},
         "axis": {"title": "Slowdown (%)", "tickCount": 10}}
    return {"data": {"values": rows}, "layer": [
        {"mark": "line", "encoding": {"x": x, "y": y("share")}},
        {"mark": {"type": "rule", "strokeWidth": 2, "color": colour},
         "encoding": {"x": x, "y": y("low"), "y2": {"field": "high"}}},
        {"mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
         "encoding": {"x": x, "y": y("share")}}],
        "config": {"mark": {"color": colour}}}


# Several charts are drawn at the same time: the one that stands first or last on the page.
CHART = ("drawn.find(d => [...document.querySelectorAll('.chart')].at({})"
         ".contains(d.view.container()))")


def save(chrome, path, which=0):
    chart = CHART.format(which)
    WebDriverWait(chrome, 20).until(lambda c: c.execute_script(f"return {chart} != null"))
    svg = chrome.execute_async_script(f"{chart}.view.toSVG().then(arguments[0])")
    path.write_text(re.sub(r"(\d\.\d)\d+", r"\1", svg) + "\n")  # a tenth of a pixel is enough


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
                save(chrome, ROOT / f"docs/pictures/{name}-{theme}.svg")
                if name != "latency":
                    continue
                colour = chrome.execute_script("return colours[theme()][0]")
                for gate, table in CURVES.items():
                    chrome.execute_async_script(
                        "chart(document.getElementById('main'), JSON.parse(arguments[0]), '', 300)"
                        ".then(() => arguments[1]())", json.dumps(curve(table, colour)))
                    save(chrome, ROOT / f"docs/gate/{gate}-{theme}.svg", -1)
    chrome.quit()


if __name__ == "__main__":
    main(*sys.argv[1:])
