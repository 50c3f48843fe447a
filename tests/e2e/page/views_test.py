#!/usr/bin/env python3
"""The HTML page's views: what each draws and answers, and how it is moved about in.

The accessibility check needs axe-core, which `./fathom test --all` fetches
(tools/setup/requirements/accessibility.txt); without it that test is skipped.
"""

import json
import re
import resource
import shutil
import subprocess
import sys

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from browser import (CHARTS, CHROMIUM, EXPLAINED, FATHOM, H100, H200, RECORDINGS, VIEWS, WORK, Page,
                     main, page, succeeds)


class Views(Page):
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
                        self.assert_fits(width)
                        self.assert_labels_apart()
                        dark = self.script("getComputedStyle(document.body).backgroundColor")
                        self.assertEqual(dark == "rgb(13, 17, 23)", theme == "dark")

    def test_layout_holds_with_a_wide_font_and_a_long_path(self):
        folder = WORK / ("a_folder_with_a_name_without_any_place_to_break" * 3)
        folder.mkdir(exist_ok=True)
        documents = [folder / f"result{number}.json" for number in range(4)]
        for copy, document in zip(documents, (*H200, H100)):
            copy.write_bytes(document.read_bytes())
        file = page("wide", *documents)
        self.size(360)
        entry = json.loads(H200[0].read_text())["benchmarks"][0]["name"]
        for view in VIEWS + [f"entry&name={entry}"]:
            with self.subTest(view=view):
                self.open(file, f"view={view}")
                self.chrome.execute_script(
                    "document.head.append(Object.assign(document.createElement('style'), {"
                    "textContent: 'body :not(svg):not(svg *) { letter-spacing: 0.25em; }'}))")
                self.assert_fits(360)

    def test_draws_within_two_seconds_of_cpu(self):
        def drawn(address):
            """What Chromium makes of a page, and the CPU time that it takes."""
            cpu = lambda r: r.ru_utime + r.ru_stime
            before = cpu(resource.getrusage(resource.RUSAGE_CHILDREN))
            ran = subprocess.run(["chromium", *CHROMIUM, f"--user-data-dir={WORK}/profile",
                                  "--dump-dom", address], capture_output=True, text=True,
                                 timeout=60, check=True)
            return ran.stdout, cpu(resource.getrusage(resource.RUSAGE_CHILDREN)) - before
        file = page("own", *H200)
        _, empty = drawn("about:blank")
        text, whole = drawn(f"file://{file}#view=latency")
        print(f"CPU beyond an empty page: {whole - empty:.2f} s", file=sys.stderr)
        self.assertIn("<svg", text)
        self.assertLess(whole - empty, 2.0)

    def test_hover_shows_figure_and_click_leads_to_the_entry(self):
        self.own("view=latency")
        points = self.points()
        self.assertGreater(len(points), 100)
        webdriver.ActionChains(self.chrome).move_to_element(points[0]).perform()
        shown = self.wait("#vg-tooltip-element.visible").text
        self.assertRegex(shown, r"[\d.]+ cycles")
        self.assertIn("memory_latency/", shown)
        points[0].click()
        self.until_state("view=entry")
        self.says("memory_latency/", "Interval")
        self.assertRegex(self.main(), r"Measured by \d+ samples of [\d.]+ launch")
        self.own("view=entry&name=copy_bandwidth/stride/stores/bytes:4/stride:32")
        self.says("1,048,576 sectors 1,048,576 sectors")

    def test_facts_search_sort_filter_and_url(self):
        self.own("view=facts")
        everything = len(self.rows())
        self.assertGreater(everything, 400)
        self.all("input[type=search]")[0].send_keys("l2 bandwidth")
        self.assertTrue(0 < len(self.rows()) < everything)
        self.assertIn("q=l2+bandwidth", self.state())
        self.assertRegex(self.rows()[0].text, r"TB/s ± [\d.]+ %, [\d.]+ % of its bound")
        self.all("th button")[2].click()
        self.assertEqual(self.all("th")[2].get_attribute("aria-sort"), "ascending")
        self.assertEqual(len(self.all("[aria-sort]")), 1)
        self.all("input[type=checkbox]:not(#documents *)")[0].click()
        quiet = [row.text for row in self.rows()]
        self.assertFalse(any("noisy" in row for row in quiet))
        self.chrome.refresh()
        self.assertEqual([row.text for row in self.rows()], quiet)

    def test_every_view_that_a_probe_declares_is_drawn(self):
        for probe in (p for d in H200 for p in json.loads(d.read_text())["fathom"]["probes"]):
            for section in {view["section"] for view in probe["views"]}:
                with self.subTest(probe=probe["name"], section=section):
                    self.own(f"view=probes&probe={probe['name']}&section={section}")
                    self.wait("main h3")
                    titles = {h.text for h in self.all("main h3")}
                    wanted = [v for v in probe["views"] if v["section"] == section]
                    self.assertLessEqual({v["title"] for v in wanted}, titles)
                    plots = sum(v["kind"] == "plot" for v in wanted)
                    self.until(lambda: len(self.all(".chart svg")) >= plots)
                    for excuse in "cannot be drawn", "nothing to draw", "has no profile":
                        self.assertNotIn(excuse, self.main())
                    self.assert_labels_apart()

    def test_entries_of_a_probe_are_searched(self):
        self.own("view=probes&probe=atomics&q=shared noisy")
        count = self.all("[role=status]")[0].text
        some, everything = map(int, re.match(r"(\d+) of (\d+) entries", count).groups())
        self.assertTrue(0 < some < everything, count)

    def test_two_documents_over_each_other(self):
        self.open(page("two", H200[1], H100), "view=latency")
        both = len(self.points())
        self.assertIn("H100", self.all(".chart svg")[0].text)
        self.all("#documents input")[1].click()
        self.wait(".chart svg")
        self.assertTrue(0 < len(self.points()) < both)
        self.assertIn("docs=0", self.state())

    def test_comparison_says_what_the_command_says(self):
        told = WORK / "compared.json"
        succeeds("compare", H200[1], H100, "--json", told)
        figures = json.loads(told.read_text())["figures"]
        differ = [f for f in figures if f["outcome"] == "differs"]
        self.open(page("two", H200[1], H100), "view=compare")
        self.says(f"{len(differ)} of {len(figures)} figures differ", "Highest memory clock")
        self.assertIn(differ[0]["title"].split(" ")[0],
                      {row.text.split(" ")[0] for row in self.rows()})
        points = self.points()
        self.assertGreater(len(points), 20)
        points[0].click()
        self.until_state("view=entry")
        self.says("Interval")

    def test_model_bound_and_regimes_are_drawn(self):
        for probe, said in (("bank_conflicts", "Dotted: the model."),
                            ("links", "Dashed: the bound.")):
            self.own(f"view=probes&probe={probe}")
            self.wait(".chart svg .mark-line path[stroke-dasharray]")
            self.says(said)
        probes = json.loads(H200[1].read_text())["fathom"]["probes"]
        wanted = sum(len(v["stretches"]) for p in probes if p["name"] == "memory_latency"
                     for v in p["views"])
        self.own("view=probes&probe=memory_latency")
        grey = ".chart svg .mark-rule line[stroke-width='9']"
        self.until(lambda: len(self.all(grey)) == wanted)

    def test_topology_shows_the_distances_of_a_clicked_sm(self):
        self.own("view=topology")
        self.all(".chart svg .mark-text.role-mark text")[7].click()
        self.until_state("sm=7")
        self.assertEqual(self.wait("input[type=number]").get_attribute("value"), "7")

    def test_roofline_answers_for_the_readers_kernel(self):
        self.own("view=roofline&bytes=4.5e9&flop=1e9&time=1000")
        self.assertIn("1 TFLOP/s, 93.4", self.wait("#answer").text)

    def test_roofline_of_shared_memory(self):
        self.own("view=roofline&level=shared memory&type=fp32")
        self.says("33.45 TB/s")
        self.assertGreater(len(self.points()), 20)
        self.own("view=roofline&level=shared memory&type=fp16")
        self.says("No counter tells what fp16 moves")

    def test_branches_of_the_ladder_are_grey(self):
        gemm = [RECORDINGS / gpu / "gemm/result.json" for gpu in ("h200", "h100-80gb-hbm3")]
        for name, documents in ("one", gemm[:1]), ("overlay", gemm):
            self.open(page(f"branches-{name}", *documents),
                      "view=ladder&type=fp32&rung=26_sliced_depth&theme=light")
            grey = self.script("""[...document.querySelectorAll('.chart svg .mark-rect path')]
              .filter(bar => bar.getAttribute('fill') === '#57606a').length""")
            # Ten column-major lessons; 6, 7, 8 and 10 to 13 of the row-major ones.
            self.assertEqual(grey, 17 * len(documents))

    def test_ladder_shows_source_and_difference(self):
        self.own("view=ladder&type=fp16&rung=05_wgmma")
        self.says("its parent")
        self.assertIn("wgmma", self.all("pre")[0].text)
        self.assertTrue(self.all("pre ins") and self.all("pre del"))
        self.assertEqual(len(self.rows()), 5)
        self.assertRegex(self.main(), r"× its parent 04_multistage ± [\d.]+ %")
        self.own("view=ladder&type=fp32&rung=row_major/07_padded")
        self.assertIn("bank, parent", self.all("pre.diagram")[0].text)
        self.assertNotIn("tensor pipe", self.main())

    def test_warp_sandbox_asks_the_model(self):
        for stride, pad, width, want in ((32, 0, 4, 32), (32, 1, 4, 1), (2, 0, 4, 2),
                                         (4, 0, 16, 4)):
            self.own(f"view=warp&stride={stride}&pad={pad}&width={width}")
            self.assertTrue(self.wait("#wavefronts").text.startswith(f"{want} wavefront"))
            self.wait(".chart svg .mark-text.role-mark")
            self.assertEqual(want, self.script(
                "Math.max(...[...document.querySelectorAll('.chart svg .mark-text.role-mark text')]"
                ".map(text => Number(text.textContent)))"))
        self.own()
        self.chrome.execute_script("location.hash = 'view=warp&stride=3&width=16'")
        self.until(lambda: "No such access" in self.main())

    def test_a_narrow_screen_shows_a_wide_table_row_by_row(self):
        self.size(360)
        self.open(page("two", H200[1], H100), "view=facts&q=l2.size")
        row = self.rows()[0]
        cells = row.find_elements(By.CSS_SELECTOR, "td:not(:empty)")
        self.assertGreater(len(cells), 3)
        for cell in cells:
            self.assertGreater(cell.rect["width"], 250)
            self.assertIn(cell.get_attribute("data-head"), self.script(
                "getComputedStyle(arguments[0], '::before').content", cell))
        self.assertIn("MiB", row.text)

    def test_legend_shows_a_line_alone(self):
        self.own("view=bandwidth")
        pale = lambda: self.script("[...document.querySelectorAll('.chart svg .mark-line.role-mark "
                                   "path')].filter(p => p.getAttribute('opacity') < 0.1).length")
        self.assertEqual(pale(), 0)
        self.all(".chart svg .role-legend-symbol path")[0].click()
        self.until(lambda: pale() > 0)

    def test_one_date_of_each_suite_still_has_a_history(self):
        self.own("view=history")
        self.says("each has one date")
        self.chrome.execute_script("location.hash = 'view=compare'")
        self.until(lambda: "gemm/result.json" in self.main())

    def test_history_of_the_gate(self):
        gate = FATHOM.parent / "fathom-gate"
        if not gate.exists():
            self.skipTest(f"{gate} is not there")
        baselines, out = WORK / "baselines", WORK / "history"
        shutil.copytree(RECORDINGS / "h200/gate/rounds", baselines / "h200", dirs_exist_ok=True)
        subprocess.run([gate, "history", baselines, "--out", out], timeout=60, check=True)
        metric = "copy_bandwidth/size:16MiB"
        for view in VIEWS:
            self.open(out / "index.html")
            self.chrome.execute_script(f"location.hash = 'view={view}&entry={metric}'")
            self.until(lambda: len(self.main()) > 20)
        self.open(out / "index.html", f"view=history&entry={metric}")
        self.assertEqual(len(self.points()), 24)
        self.points()[0].click()
        self.until_state("view=entry")
        self.says("TB/s")

    def test_keyboard_alone(self):
        self.own()
        self.press(Keys.TAB)
        self.assertEqual(self.script("document.activeElement.id"), "skip")
        seen = []
        while len(seen) < 20 and "Bandwidth" not in seen:
            self.press(Keys.TAB)
            seen.append(self.script("document.activeElement.textContent"))
        self.assertTrue({"Dark", "Overview", "Latency", "Bandwidth"} <= set(seen), seen)
        self.press(Keys.ENTER)
        self.wait(".chart svg")
        self.assertIn("view=bandwidth", self.state())
        self.own("view=ladder&type=fp16")
        self.focus(self.wait("input[type=range]"))
        self.press(Keys.ARROW_RIGHT)
        self.until_state("rung=03_")
        self.assertEqual(self.script("document.activeElement.type"), "range")
        self.assertEqual(self.all("summary"), [], "the ladder has its figures in the open")

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


if __name__ == "__main__":
    main()
