#!/usr/bin/env python3
"""The HTML page in Chromium, and how long the Markdown pages are there:
page_test.py FATHOM RECORDINGS WORK_FOLDER.

Needs Debian's chromium, chromium-driver and python3-selenium, and for Markdown cmark-gfm, GitHub's
own reader of it. The accessibility check needs axe-core, which `./fathom test --all` fetches (tools/setup/requirements/accessibility.txt); without
it that test is skipped.
"""

import contextlib
import functools
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import unittest

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

FATHOM, RECORDINGS, WORK = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
VIEWS = ["overview", "latency", "bandwidth", "facts", "claims", "ladder", "roofline", "warp",
         "topology", "history", "compare", "probes"]
CHARTS = {"latency", "bandwidth", "ladder", "roofline", "warp", "topology", "history",
          "compare", "probes"}
H200 = [RECORDINGS / "h200" / f for f in ("result.json", "atlas/result.json", "gemm/result.json")]
H100 = RECORDINGS / "h100-80gb-hbm3/atlas/result.json"
ROOT = RECORDINGS.parent
# The answer of an H100 on tests/gpu/explain_app.cpp, shortened to six kernels.
EXPLAINED = ROOT / "tests/data/explain/h100.json"
# What GitHub does with Markdown (github-markdown-css), as far as it sets heights and widths. The
# font is the widest of those that a reader may have.
GITHUB = """body { margin: 0; font: 16px/1.5 "DejaVu Sans", sans-serif; overflow-wrap: break-word }
main { width: 1012px }
h1, h2, h3 { margin: 24px 0 16px; font-weight: 600; line-height: 1.25 }
h1 { font-size: 2em } h2 { font-size: 1.5em } h3 { font-size: 1.25em }
h1, h2 { padding-bottom: .3em; border-bottom: 1px solid }
p, ul, ol, blockquote, table, pre, details { margin: 0 0 16px }
ul, ol { padding-left: 2em } li + li { margin-top: .25em }
table { display: block; width: max-content; max-width: 100%; overflow: auto;
        border-collapse: collapse }
th, td { padding: 6px 13px; border: 1px solid } th { font-weight: 600 }
code { font: 85% monospace; padding: .2em .4em; white-space: break-spaces }
pre { padding: 16px; overflow: auto; line-height: 1.45; font-size: 85% }
pre code { font-size: 100%; padding: 0; white-space: pre } img { max-width: 100% }"""


def fathom(*arguments):
    return subprocess.run([FATHOM, *map(str, arguments)], capture_output=True, text=True,
                          timeout=300, check=False)


@functools.lru_cache(maxsize=None)
def page(name, *documents):
    out = WORK / f"{name}.html"
    ran = fathom("report", "--html", *documents, "--out", out)
    assert ran.returncode == 0, ran.stderr
    return out


def edited(name, change, of=H200[0]):
    document = json.loads(of.read_text())
    change(document)
    path = WORK / f"{name}.json"
    path.write_text(json.dumps(document))
    return path


def browser():
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                 "--force-device-scale-factor=1"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.chrome = browser()
        cls.chrome.set_script_timeout(120)
        cls.addClassCleanup(cls.chrome.quit)

    def setUp(self):
        self.size(1400)

    def tearDown(self):
        wrong = [e for e in self.chrome.get_log("browser") if e["level"] in ("SEVERE", "WARNING")]
        self.assertEqual(wrong, [])
        for line in self.chrome.get_log("performance"):
            message = json.loads(line["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self.assertRegex(message["params"]["request"]["url"], "^(file|data|about|blob):")

    def size(self, width, height=1000):
        self.chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def open(self, file, state=""):
        self.chrome.get("about:blank")
        self.chrome.get(f"file://{file}#{state}")
        view = re.search("view=(\\w+)", state)
        if view and view[1] in CHARTS and "probe=" not in state:
            self.wait(".chart svg")

    def wait(self, selector):
        WebDriverWait(self.chrome, 20).until(lambda c: c.find_elements(By.CSS_SELECTOR, selector))
        return self.all(selector)[0]

    def all(self, selector):
        return self.chrome.find_elements(By.CSS_SELECTOR, selector)

    def script(self, text, *arguments):
        return self.chrome.execute_script("return " + text, *arguments)

    def main(self):
        return self.all("main")[0].text

    def state(self):
        return self.script("decodeURIComponent(location.hash)")

    def labels_meet(self):
        """Pairs of texts of one chart that overlap, or run together on a line."""
        return self.script("""(() => { const met = [];
          for (const svg of document.querySelectorAll('.chart svg')) {
            const boxes = [...svg.querySelectorAll('text')].filter(t => t.textContent &&
              getComputedStyle(t).opacity !== '0' && t.getAttribute('opacity') !== '0')
              .map(t => [t.textContent, t.getBoundingClientRect()]).filter(b => b[1].width > 0);
            for (let i = 0; i < boxes.length; ++i) for (let j = i + 1; j < boxes.length; ++j) {
              const [a, b] = [boxes[i][1], boxes[j][1]], by = -1;
              if (a.left + by < b.right && b.left + by < a.right &&
                  a.top + 2 < b.bottom && b.top + 2 < a.bottom)
                met.push([boxes[i][0], boxes[j][0]]); } }
          return met; })()""")

    def test_every_view_in_both_themes_and_at_each_width(self):
        file = page("three", *H200, H100)
        self.assertLess(page("own", *H200).stat().st_size, 6_000_000)
        for width in (360, 1400):
            self.size(width)
            for theme in ("light", "dark"):
                for view in VIEWS:
                    with self.subTest(view=view, theme=theme, width=width):
                        self.open(file, f"view={view}&theme={theme}")
                        self.assertGreater(len(self.main()), 100)
                        self.assertEqual(bool(self.all(".chart svg")), view in CHARTS)
                        self.assertLessEqual(
                            self.script("document.documentElement.scrollWidth"), width)
                        self.assertEqual(self.labels_meet(), [])
                        dark = self.script("getComputedStyle(document.body).backgroundColor")
                        self.assertEqual(dark == "rgb(13, 17, 23)", theme == "dark")

    def test_layout_holds_with_a_wide_font_and_a_long_path(self):
        folder = WORK / ("a_folder_with_a_name_without_any_place_to_break" * 3)
        folder.mkdir(exist_ok=True)
        documents = []
        for number, document in enumerate((*H200, H100)):
            documents.append(folder / f"result{number}.json")
            documents[-1].write_bytes(document.read_bytes())
        file = page("wide", *documents)
        self.size(360)
        entry = json.loads(H200[0].read_text())["benchmarks"][0]["name"]
        for view in VIEWS + [f"entry&name={entry}"]:
            with self.subTest(view=view):
                self.open(file, f"view={view}")
                self.chrome.execute_script(
                    "document.head.append(Object.assign(document.createElement('style'), {"
                    "textContent: 'body :not(svg):not(svg *) { letter-spacing: 0.25em; }'}))")
                self.assertLessEqual(self.script("document.documentElement.scrollWidth"), 360)

    def test_draws_within_two_seconds_of_cpu(self):
        file = page("own", *H200)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(["chromium", "--headless=new", "--no-sandbox", "--disable-gpu",
                        f"--user-data-dir={WORK}/profile", "--dump-dom", "about:blank"],
                       capture_output=True, timeout=60, check=True)
        middle = resource.getrusage(resource.RUSAGE_CHILDREN)
        drawn = subprocess.run(["chromium", "--headless=new", "--no-sandbox", "--disable-gpu",
                                f"--user-data-dir={WORK}/profile", "--dump-dom",
                                f"file://{file}#view=latency"],
                               capture_output=True, text=True, timeout=60, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = lambda r: r.ru_utime + r.ru_stime
        took = (cpu(after) - cpu(middle)) - (cpu(middle) - cpu(before))
        print(f"CPU beyond an empty page: {took:.2f} s", file=sys.stderr)
        self.assertIn("<svg", drawn.stdout)
        self.assertLess(took, 2.0)

    def test_hover_shows_figure_and_click_leads_to_the_entry(self):
        self.open(page("own", *H200), "view=latency")
        points = self.all(".chart svg .mark-symbol.role-mark path")
        self.assertGreater(len(points), 100)
        webdriver.ActionChains(self.chrome).move_to_element(points[0]).perform()
        shown = self.wait("#vg-tooltip-element.visible").text
        self.assertRegex(shown, r"[\d.]+ cycles")
        self.assertIn("memory_latency/", shown)
        points[0].click()
        WebDriverWait(self.chrome, 10).until(lambda c: "view=entry" in self.state())
        self.assertIn("memory_latency/", self.main())
        self.assertIn("Interval", self.main())
        self.assertRegex(self.main(), r"Measured by \d+ samples of [\d.]+ launch")
        self.open(page("own", *H200), "view=entry&name=copy_bandwidth/stride/stores/bytes:4/stride:32")
        self.assertIn("1,048,576 sectors 1,048,576 sectors", self.main())

    def test_facts_search_sort_filter_and_url(self):
        self.open(page("own", *H200), "view=facts")
        rows = lambda: self.all("main tbody tr")
        everything = len(rows())
        self.assertGreater(everything, 400)
        box = self.all("input[type=search]")[0]
        box.send_keys("l2 bandwidth")
        some = len(rows())
        self.assertTrue(0 < some < everything)
        self.assertIn("q=l2+bandwidth", self.state())
        self.assertRegex(rows()[0].text, r"TB/s ± [\d.]+ %, [\d.]+ % of its bound")
        self.all("th button")[2].click()
        self.assertEqual(self.all("th")[2].get_attribute("aria-sort"), "ascending")
        values = self.script("[...document.querySelectorAll('[aria-sort]')].length")
        self.assertEqual(values, 1)
        self.all("input[type=checkbox]:not(#documents *)")[0].click()
        quiet = [row.text for row in rows()]
        self.assertFalse(any("noisy" in row for row in quiet))
        self.chrome.refresh()
        self.assertEqual([row.text for row in rows()], quiet)

    def test_every_view_that_a_probe_declares_is_drawn(self):
        for document in H200:
            for probe in json.loads(document.read_text())["fathom"]["probes"]:
                views = probe["views"]
                for section in {view["section"] for view in views}:
                    with self.subTest(probe=probe["name"], section=section):
                        self.open(page("own", *H200),
                                  f"view=probes&probe={probe['name']}&section={section}")
                        self.wait("main h3")
                        titles = {h.text for h in self.all("main h3")}
                        wanted = [v for v in views if v["section"] == section]
                        self.assertLessEqual({v["title"] for v in wanted}, titles)
                        plots = sum(v["kind"] == "plot" for v in wanted)
                        WebDriverWait(self.chrome, 20).until(
                            lambda c: len(self.all(".chart svg")) >= plots)
                        self.assertNotIn("cannot be drawn", self.main())
                        self.assertNotIn("nothing to draw", self.main())
                        self.assertNotIn("has no profile", self.main())
                        self.assertEqual(self.labels_meet(), [])

    def test_entries_of_a_probe_are_searched(self):
        self.open(page("own", *H200), "view=probes&probe=atomics&q=shared noisy")
        count = self.all("[role=status]")[0].text
        some, everything = map(int, re.match(r"(\d+) of (\d+) entries", count).groups())
        self.assertTrue(0 < some < everything, count)

    def test_two_documents_over_each_other(self):
        self.open(page("two", H200[1], H100), "view=latency")
        both = len(self.all(".chart svg .mark-symbol.role-mark path"))
        self.assertIn("H100", self.all(".chart svg")[0].text)
        self.all("#documents input")[1].click()
        self.wait(".chart svg")
        one = len(self.all(".chart svg .mark-symbol.role-mark path"))
        self.assertTrue(0 < one < both, (one, both))
        self.assertIn("docs=0", self.state())

    def test_comparison_says_what_the_command_says(self):
        told = WORK / "compared.json"
        ran = fathom("compare", H200[1], H100, "--json", told)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        figures = json.loads(told.read_text())["figures"]
        differ = sum(f["outcome"] == "differs" for f in figures)
        self.open(page("two", H200[1], H100), "view=compare")
        self.assertIn(f"{differ} of {len(figures)} figures differ", self.main())
        shown = {row.text.split(" ")[0] for row in self.all("main tbody tr")}
        first = next(f for f in figures if f["outcome"] == "differs")
        self.assertIn(first["title"].split(" ")[0], shown)
        self.assertIn("Highest memory clock", self.main())
        points = self.all(".chart svg .mark-symbol.role-mark path")
        self.assertGreater(len(points), 20)
        points[0].click()
        WebDriverWait(self.chrome, 10).until(lambda c: "view=entry" in self.state())
        self.assertIn("Interval", self.main())

    def test_model_bound_and_regimes_are_drawn(self):
        file = page("own", *H200)
        for probe, said in ("bank_conflicts", "Dotted: the model."), ("links", "Dashed: the bound."):
            self.open(file, f"view=probes&probe={probe}")
            self.wait(".chart svg .mark-line path[stroke-dasharray]")
            self.assertIn(said, self.main())
        views = json.loads(H200[1].read_text())["fathom"]["probes"]
        wanted = sum(len(v["stretches"]) for p in views if p["name"] == "memory_latency"
                     for v in p["views"])
        self.open(file, "view=probes&probe=memory_latency")
        grey = ".chart svg .mark-rule line[stroke-width='9']"
        WebDriverWait(self.chrome, 20).until(lambda c: len(self.all(grey)) == wanted)

    def test_topology_shows_the_distances_of_a_clicked_sm(self):
        self.open(page("own", *H200), "view=topology")
        self.all(".chart svg .mark-text.role-mark text")[7].click()
        WebDriverWait(self.chrome, 10).until(lambda c: "sm=7" in self.state())
        self.assertEqual(self.wait("input[type=number]").get_attribute("value"), "7")

    def test_card_check(self):
        def card(name, factor, clock=1):
            def change(document):
                document["context"]["fathom"]["fingerprint"]["gpu_uuid_hash"] = name
                for entry in document["benchmarks"]:
                    if not entry["name"].startswith("copy_bandwidth/"):
                        continue
                    mine = entry["fathom"]
                    mine["metric"]["value"] *= factor
                    for end in "low", "high":
                        mine["interval"][end] *= factor
                    if mine["timing"].get("sm_clock_hz"):
                        mine["timing"]["sm_clock_hz"] *= clock
                    mine["bound"] = None
            return edited(name, change)
        others = WORK / "others/h200/cards/default"
        others.mkdir(parents=True, exist_ok=True)
        for i, factor in enumerate((1, 1.001, 0.999)):
            (others / f"{i}").mkdir(exist_ok=True)
            card(f"other{i}", factor).replace(others / f"{i}/result.json")
        own = card("slow", 0.8, 0.7)
        for recordings, said in (WORK / "others", "low: copy_bandwidth 3.479 TB/s is 20 % worse"), (
                WORK / "none", "unknown: 0 other cards"):
            out = WORK / "card"
            ran = fathom("report", own, "--recordings", recordings, "--out", out)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertIn(f"Card:    {said}", ran.stdout)
            self.assertIn(f"**Card:** {said}", (out / "README.md").read_text())
            self.open(out / "index.html")
            self.wait("main h2")
            self.assertIn(said, self.main())

    def test_roofline_answers_for_the_readers_kernel(self):
        self.open(page("own", *H200), "view=roofline&bytes=4.5e9&flop=1e9&time=1000")
        self.assertIn("1 TFLOP/s, 93.4", self.wait("#answer").text)

    def test_roofline_of_shared_memory(self):
        file = page("own", *H200)
        self.open(file, "view=roofline&level=shared memory&type=fp32")
        self.assertIn("33.45 TB/s", self.main())
        points = self.all(".chart svg .mark-symbol.role-mark path")
        self.assertGreater(len(points), 20)
        self.open(file, "view=roofline&level=shared memory&type=fp16")
        self.assertIn("No counter tells what fp16 moves", self.main())

    def test_branches_of_the_ladder_are_grey(self):
        gemm = [RECORDINGS / gpu / "gemm/result.json" for gpu in ("h200", "h100-80gb-hbm3")]
        for name, documents in ("one", gemm[:1]), ("overlay", gemm):
            self.open(page(f"branches-{name}", *documents),
                      "view=ladder&type=fp32&rung=26_sliced_depth&theme=light")
            grey = self.script("""[...document.querySelectorAll('.chart svg .mark-rect path')]
              .filter(bar => bar.getAttribute('fill') === '#57606a').length""")
            # Ten column-major lessons; 6, 7, 8 and 10 to 13 of the row-major ones.
            self.assertEqual(grey, 17 * len(documents))

    def test_warp_sandbox_asks_the_model(self):
        file = page("own", *H200)
        for stride, pad, width, want in ((32, 0, 4, 32), (32, 1, 4, 1), (2, 0, 4, 2),
                                         (4, 0, 16, 4)):
            self.open(file, f"view=warp&stride={stride}&pad={pad}&width={width}")
            self.assertTrue(self.wait("#wavefronts").text.startswith(f"{want} wavefront"))
            drawn = self.wait(".chart svg .mark-text.role-mark") and self.script(
                "Math.max(...[...document.querySelectorAll('.chart svg .mark-text.role-mark text')]"
                ".map(text => Number(text.textContent)))")
            self.assertEqual(drawn, want)
        self.open(file)
        self.chrome.execute_script("location.hash = 'view=warp&stride=3&width=16'")
        WebDriverWait(self.chrome, 10).until(lambda c: "No such access" in self.main())

    def test_ladder_shows_source_and_difference(self):
        self.open(page("own", *H200), "view=ladder&type=fp16&rung=05_wgmma")
        self.assertIn("its parent", self.main())
        self.assertIn("wgmma", self.all("pre")[0].text)
        self.assertTrue(self.all("pre ins") and self.all("pre del"))
        self.assertEqual(len(self.all("main tbody tr")), 5)
        self.assertRegex(self.main(), r"× its parent 04_multistage ± [\d.]+ %")
        self.open(page("own", *H200), "view=ladder&type=fp32&rung=row_major/07_padded")
        self.assertIn("bank, parent", self.all("pre.diagram")[0].text)
        self.assertNotIn("tensor pipe", self.main())

    def test_a_narrow_screen_shows_a_wide_table_row_by_row(self):
        self.size(360)
        self.open(page("two", H200[1], H100), "view=facts&q=l2.size")
        row = self.all("main tbody tr")[0]
        cells = row.find_elements(By.CSS_SELECTOR, "td:not(:empty)")
        self.assertGreater(len(cells), 3)
        for cell in cells:
            self.assertGreater(cell.rect["width"], 250)
            self.assertIn(cell.get_attribute("data-head"), self.script(
                "getComputedStyle(arguments[0], '::before').content", cell))
        self.assertIn("MiB", row.text)

    def test_legend_shows_a_line_alone(self):
        self.open(page("own", *H200), "view=bandwidth")
        pale = lambda: self.script("[...document.querySelectorAll('.chart svg .mark-line.role-mark "
                                   "path')].filter(p => p.getAttribute('opacity') < 0.1).length")
        self.assertEqual(pale(), 0)
        self.all(".chart svg .role-legend-symbol path")[0].click()
        WebDriverWait(self.chrome, 10).until(lambda c: pale() > 0)

    def test_one_date_of_each_suite_still_has_a_history(self):
        self.open(page("own", *H200), "view=history")
        self.assertIn("each has one date", self.main())
        self.chrome.execute_script("location.hash = 'view=compare'")
        WebDriverWait(self.chrome, 10).until(lambda c: "gemm/result.json" in self.main())

    def test_history_of_the_gate(self):
        gate = FATHOM.parent / "fathom-gate"
        if not gate.exists():
            self.skipTest(f"{gate} is not there")
        baselines, out = WORK / "baselines", WORK / "history"
        shutil.copytree(RECORDINGS / "h200/gate/rounds", baselines / "h200", dirs_exist_ok=True)
        ran = subprocess.run([gate, "history", baselines, "--out", out], capture_output=True,
                             text=True, timeout=60, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        metric = "copy_bandwidth/size:16MiB"
        for view in VIEWS:
            self.open(out / "index.html")
            self.chrome.execute_script(f"location.hash = 'view={view}&entry={metric}'")
            WebDriverWait(self.chrome, 10).until(lambda c: len(self.main()) > 20)
        self.open(out / "index.html", f"view=history&entry={metric}")
        points = self.all(".chart svg .mark-symbol.role-mark path")
        self.assertEqual(len(points), 24)
        points[0].click()
        WebDriverWait(self.chrome, 10).until(lambda c: "view=entry" in self.state())
        self.assertIn("TB/s", self.main())

    def test_keyboard_alone(self):
        self.open(page("own", *H200))
        press = lambda key: webdriver.ActionChains(self.chrome).send_keys(key).perform()
        press(Keys.TAB)
        self.assertEqual(self.script("document.activeElement.id"), "skip")
        seen = set()
        for _ in range(20):
            press(Keys.TAB)
            seen.add(self.script("document.activeElement.textContent"))
            if self.script("document.activeElement.textContent") == "Bandwidth":
                break
        self.assertTrue({"Dark", "Overview", "Latency", "Bandwidth"} <= seen, seen)
        press(Keys.ENTER)
        self.wait(".chart svg")
        self.assertIn("view=bandwidth", self.state())
        self.open(page("own", *H200), "view=ladder&type=fp16")
        slider = self.wait("input[type=range]")
        self.chrome.execute_script("arguments[0].focus()", slider)
        press(Keys.ARROW_RIGHT)
        WebDriverWait(self.chrome, 10).until(lambda c: "rung=03_" in self.state())
        self.assertEqual(self.script("document.activeElement.type"), "range")
        self.all("summary") and self.fail("the ladder has its figures in the open")

    def test_accessibility(self):
        axe = FATHOM.parent.parent / "toolkit/axe_playwright_python/axe.min.js"
        if not axe.exists():
            self.skipTest(f"{axe} is not there")
        for theme in ("light", "dark"):
            for view in [*VIEWS, "explain"]:
                with self.subTest(view=view, theme=theme):
                    # A few rows are as good as 500, and axe takes minutes for those.
                    self.open(page("four", *H200, H100, EXPLAINED),
                              f"view={view}&theme={theme}&q=l2.size")
                    self.chrome.execute_script(axe.read_text())
                    # The themes differ in colours alone.
                    only = {"runOnly": ["color-contrast"]} if theme == "dark" else {}
                    result = self.chrome.execute_async_script(
                        "axe.run(document, arguments[0]).then(arguments[1])", only)
                    self.assertEqual([(v["id"], v["nodes"][0]["html"][:200])
                                      for v in result["violations"]
                                      if v["impact"] in ("serious", "critical")], [])

    def measured(self, file):
        """Height of a Markdown page in screens of 1,000 px, and its tables wider than 1,012 px."""
        html = subprocess.run(["cmark-gfm", "--unsafe", "-e", "table", "-e", "strikethrough", "-e",
                               "autolink", "-e", "tagfilter", file], capture_output=True, text=True,
                              check=True).stdout
        shown = WORK / "markdown.html"
        shown.write_text(f'<!doctype html><meta charset="utf-8"><base href="{file.parent.as_uri()}/">'
                         f'<link rel="icon" href="data:,"><style>{GITHUB}</style>'
                         f'<main>{html}</main>')
        self.chrome.get("about:blank")
        self.chrome.get(shown.as_uri())
        wide = self.script("[...document.querySelectorAll('table')].filter("
                           "t => t.scrollWidth > t.clientWidth).map(t => t.innerText.slice(0, 60))")
        return self.script("document.querySelector('main').scrollHeight") / 1000, wide

    def test_markdown_pages_have_at_most_ten_screens(self):
        if not shutil.which("cmark-gfm"):
            self.skipTest("cmark-gfm is not there")
        self.size(1012)
        files = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
        # As this build writes them, also those that are not committed.
        shutil.rmtree(WORK / "markdown", ignore_errors=True)
        for result in sorted(RECORDINGS.glob("*/**/result.json")):
            out = WORK / "markdown" / result.parent.relative_to(RECORDINGS)
            ran = fathom("report", result, "--recordings", RECORDINGS, "--out", out)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            files += sorted(out.glob("*.md"))
            for committed in result.parent.glob("report/*.md"):
                self.assertEqual(committed.read_text(), (out / committed.name).read_text())
        self.assertGreater(len(files), 45)
        longest = 0
        for file in files:
            with self.subTest(file=str(file)):
                screens, wide = self.measured(file)
                self.assertGreater(screens, 0.3)
                self.assertLess(screens, 4 if file == ROOT / "README.md" else 10)
                self.assertEqual(wide, [])
                self.assertLess(file.stat().st_size, 60_000)
                longest = max(longest, screens)
        print(f"{len(files)} Markdown pages, the longest of {longest:.1f} screens", file=sys.stderr)
        # A page that is too long is seen to be.
        long = WORK / "long.md"
        long.write_text("a line\n\n" * 400 + "| a |\n| --- |\n| " + "x" * 200 + " |\n")
        screens, wide = self.measured(long)
        self.assertGreater(screens, 10)

    def test_markup_in_a_document_does_not_run(self):
        evil = ("</script><script>document.title='owned'</script>"
                '<img src=x onerror="owned=1">{{data}}')

        def change(document):
            document["context"]["fathom"]["fingerprint"]["gpu_name"] = evil
            for claim in document["fathom"]["claims"]:
                claim["statement"] = evil
            for probe in document["fathom"]["probes"]:
                probe["answer"] = evil
        file = page("evil", edited("evil", change))
        for view in VIEWS:
            self.chrome.get("about:blank")
            self.chrome.get(f"file://{file}#view={view}")
            self.assertNotEqual(self.chrome.title, "owned")
            self.assertFalse(self.script("'owned' in window"))
        self.open(file, "view=claims")
        self.assertIn("</script>", self.main())

    def test_explained_source(self):
        file = page("why", EXPLAINED)
        for width in (360, 1000, 1600):
            self.size(width)
            for theme in ("light", "dark"):
                for kernel in range(6):
                    self.open(file, f"theme={theme}&kernel={kernel}")
                    self.wait(".source .costs")
                    self.assertLessEqual(self.script("document.documentElement.scrollWidth"), width)
        self.open(file)
        self.assertEqual([a.text for a in self.all("nav a")], ["Explain"])
        self.assertEqual([o.text.split(": ")[0] for o in self.all("option")],
                         ["−93.9 % wavefronts", "−77.8 % sectors", "−69.7 % sectors",
                          "−53.6 % wavefronts", "−50.0 % accesses", "nothing to save"])
        rows = {row.text.split("\n")[0].split(" ")[-1]: row for row in self.all("details.line")}
        self.assertEqual(list(rows), ["79", "87", "88"])
        # Two accesses on one line, and the worst line open.
        self.assertIn("4,096 sectors, least 4,096\n1,024 wavefronts, least 1,024", rows["79"].text)
        for said in ("tile[threadIdx.x][row]", "32,768 wavefronts, least 1,024 −96.9 %",
                     "bank conflict: 32 wavefronts", "fix: index the tile by row * 33 + column"):
            self.assertIn(said, rows["87"].text)
        self.assertNotIn("global load", self.main())
        rows["79"].find_element(By.TAG_NAME, "summary").click()
        self.assertIn("global load of 4 B: 1,024 by 32.0 lanes", rows["79"].text)
        # By keyboard: another kernel, and a line of it.
        press = lambda key: webdriver.ActionChains(self.chrome).send_keys(key).perform()
        self.chrome.execute_script("arguments[0].focus()", self.wait("[data-key=kernel]"))
        press(Keys.ARROW_DOWN)
        WebDriverWait(self.chrome, 10).until(lambda c: "kernel=1" in self.state())
        self.assertEqual(self.script("document.activeElement.dataset.key"), "kernel")
        self.assertIn("stride: lanes 4096 bytes apart", self.main())
        for _ in range(3):  # the table, the lines above, the worst line
            press(Keys.TAB)
        press(Keys.ENTER)
        self.assertNotIn("stride: lanes", self.main())
        self.chrome.refresh()
        self.assertIn("stride: lanes", self.main())
        far = self.all(".source > details:not(.line) summary")[0]
        self.assertNotIn("What `fathom explain` is tested on", self.main())
        far.click()
        WebDriverWait(self.chrome, 10).until(
            lambda c: "What `fathom explain` is tested on" in self.main())

    def test_explained_with_measurements_and_without_lines(self):
        evil = ("</script><script>document.title='owned'</script>"
                '<img src=x onerror="owned=1">{{data}}')

        def change(answer):
            first, second, third = answer["kernels"][:3]
            waits = {"file": first["lines"][0]["file"], "offset": 64, "samples": 1234}
            first["measured"] = {
                "launches": 2, "seconds": 3e-6, "counters": {"shared_load_wavefronts": 33792},
                "recorded": {"shared_load_wavefronts": 33793},
                "bandwidths": [{"level": "L2", "bytes_per_second": 1e12, "bound": 4e12}],
                "waits": [{**waits, "line": 87, "share": 0.7312,
                           "reasons": {"mio_throttle": 234, evil: 1000}},
                          {**waits, "line": 90, "share": 0.0201, "reasons": {}}]}
            second["measured"] = None
            for line in second["lines"]:
                line["file"] = line["line"] = None
            for line in third["lines"]:
                line["file"] = evil
            for place, key in ((answer, "command"), (third, "name"), (answer["sources"][0], "text"),
                               (third["lines"][0]["faults"][0], "what")):
                place[key] += evil
            answer["sources"][0]["text"] = answer["sources"][0]["text"].replace("float x", evil)
            answer["kernels"].append(dict(third, lines=[]))
        file = page("why-more", edited("why-more", change, EXPLAINED), EXPLAINED, H200[0])
        said = [("shared load wavefronts 33,792 33,793 recorded", "time of 2 launches 3 µs",
                 "L2 1 TB/s 4 TB/s at most (25.0 %)", "−96.9 %\n73.1 % of waiting",
                 "1,234 samples of a warp that waits: </script>", "90\n}\n2.0 % of waiting\n91",
                 evil + " = tile[threadIdx.x][row]"),
                ("Without line information", "+0x0080"), ("Its text is not in the answer.", evil)]
        for kernel, texts in enumerate([*said, (), (), (), ("accessed no memory", evil)]):
            self.open(file, f"view=explain&kernel={kernel}")
            for text in texts:
                self.assertIn(text, self.main())
            self.assertNotEqual(self.chrome.title, "owned")
            self.assertFalse(self.script("'owned' in window"))
        self.open(file, "view=explain&why=1")
        self.assertNotIn("of waiting", self.main())
        self.open(file)
        self.assertIn("entries", self.main())

    def test_unusual_documents(self):
        def empty(document):
            document["benchmarks"] = []
            document["fathom"].update(facts=[], claims=[], probes=[])
            document["context"]["fathom"]["fingerprint"]["gpu_name"] = "GPU of tomorrow"
        file = page("empty", edited("empty", empty))
        for view in VIEWS:
            self.chrome.get("about:blank")
            self.chrome.get(f"file://{file}#view={view}")
            self.assertGreater(len(self.main()), 20, view)
        self.open(file)
        self.assertIn("no entries", self.main())
        self.assertIn("GPU of tomorrow", self.main())
        self.open(page("twins", H200[0], H200[0]), "view=history")
        self.assertIn("(2)", self.all("#documents")[0].text)

    def test_a_hundred_thousand_entries(self):
        def many(document):
            one = min(document["benchmarks"], key=lambda b: len(json.dumps(b)))
            rows = document["benchmarks"]
            for number in range(100_000 - len(rows)):
                row = dict(one, name=f"{one['name']}/copy:{number}")
                row["run_name"] = row["name"]
                rows.append(row)
        file = page("many", edited("many", many))
        self.open(file, "view=overview")
        self.assertIn("100000 entries", self.main())

    def test_bad_documents_get_one_sentence(self):
        whole = H200[0].read_text()
        (WORK / "torn.json").write_text(whole[: len(whole) // 2])

        def older(document):
            document["context"]["fathom"]["schema_version"] = 99
        answer = EXPLAINED.read_text()
        (WORK / "why-torn.json").write_text(answer[: len(answer) // 2])
        newer = edited("why-newer", lambda a: a.update(format="fathom explain 99"), EXPLAINED)
        for bad in (WORK / "torn.json", edited("older", older), WORK / "none.json",
                    WORK / "why-torn.json", newer):
            ran = fathom("report", "--html", H200[0], bad, "--out", WORK / "bad.html")
            self.assertNotEqual(ran.returncode, 0)
            self.assertIn(bad.name, ran.stderr)
            self.assertLessEqual(len(ran.stderr.strip().splitlines()), 2, ran.stderr)
            self.assertFalse((WORK / "bad.html").exists())
        ran = fathom("report", *H200[:2])
        self.assertEqual(ran.returncode, 2)
        self.assertIn("--html", ran.stderr)


if __name__ == "__main__":
    WORK.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
