#!/usr/bin/env python3
"""The HTML page of documents that are not as usual: of `fathom explain`, of a slow card, hostile,
empty, huge, torn. And how long the Markdown pages are where GitHub shows them: by cmark-gfm,
GitHub's own reader.
"""

import json
import shutil
import subprocess
import sys

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from browser import (EVIL, EXPLAINED, H200, RECORDINGS, ROOT, VIEWS, WORK, Page, edited, fathom,
                     main, page, succeeds)

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


class Documents(Page):
    def test_card_check(self):
        def slow(document):
            document["context"]["fathom"]["fingerprint"]["gpu_uuid_hash"] = "slow"
            for entry in document["benchmarks"]:
                if entry["name"].startswith("copy_bandwidth/"):
                    mine = entry["fathom"]
                    mine["bound"] = None
                    mine["metric"]["value"] *= 0.8
                    for end in "low", "high":
                        mine["interval"][end] *= 0.8
        own = edited("slow", slow, RECORDINGS / "h100-80gb-hbm3/result.json")
        out = WORK / "card"
        for recordings, said in (
                (RECORDINGS, "low: copy_bandwidth 2.441 TB/s is 20 % worse"),
                (WORK / "none", "unknown: 0 other cards")):
            printed = succeeds("report", own, "--recordings", recordings, "--out", out)
            self.assertIn(f"Card:    {said}", printed)
            self.assertIn(f"**Card:** {said}", (out / "README.md").read_text())
            self.open(out / "index.html")
            self.wait("main h2")
            self.says(said)

    def test_markup_in_a_document_does_not_run(self):
        def change(document):
            document["context"]["fathom"]["fingerprint"]["gpu_name"] = EVIL
            for claim in document["fathom"]["claims"]:
                claim["statement"] = EVIL
            for probe in document["fathom"]["probes"]:
                probe["answer"] = EVIL
        file = page("evil", edited("evil", change))
        for view in VIEWS:
            self.get(file, f"view={view}")
            self.assert_not_owned()
        self.open(file, "view=claims")
        self.says("</script>")
        self.says("the slower has at least 95 % of the faster")

    def test_explained_source(self):
        file = page("why", EXPLAINED)
        for width in (360, 1000, 1600):
            self.size(width)
            for theme in ("light", "dark"):
                for kernel in range(6):
                    self.open(file, f"theme={theme}&kernel={kernel}")
                    self.wait(".source .costs")
                    self.assert_fits(width)
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
        self.focus(self.wait("[data-key=kernel]"))
        self.press(Keys.ARROW_DOWN)
        self.until_state("kernel=1")
        self.assertEqual(self.script("document.activeElement.dataset.key"), "kernel")
        self.says("stride: lanes 4096 bytes apart")
        for _ in range(3):  # the table, the lines above, the worst line
            self.press(Keys.TAB)
        self.press(Keys.ENTER)
        self.assertNotIn("stride: lanes", self.main())
        self.chrome.refresh()
        self.says("stride: lanes")
        far = self.all(".source > details:not(.line) summary")[0]
        self.assertNotIn("What `fathom explain` is tested on", self.main())
        far.click()
        self.until(lambda: "What `fathom explain` is tested on" in self.main())

    def test_explained_with_measurements_and_without_lines(self):
        def change(answer):
            first, second, third = answer["kernels"][:3]
            waits = {"file": first["lines"][0]["file"], "offset": 64, "samples": 1234}
            first["measured"] = {
                "launches": 2, "seconds": 3e-6, "counters": {"shared_load_wavefronts": 33792},
                "recorded": {"shared_load_wavefronts": 33793},
                "bandwidths": [{"level": "L2", "bytes_per_second": 1e12, "bound": 4e12}],
                "waits": [{**waits, "line": 87, "share": 0.7312,
                           "reasons": {"mio_throttle": 234, EVIL: 1000}},
                          {**waits, "line": 90, "share": 0.0201, "reasons": {}}]}
            second["measured"] = None
            for line in second["lines"]:
                line["file"] = line["line"] = None
            for line in third["lines"]:
                line["file"] = EVIL
            for place, key in ((answer, "command"), (third, "name"), (answer["sources"][0], "text"),
                               (third["lines"][0]["faults"][0], "what")):
                place[key] += EVIL
            answer["sources"][0]["text"] = answer["sources"][0]["text"].replace("float x", EVIL)
            answer["kernels"].append(dict(third, lines=[]))
        file = page("why-more", edited("why-more", change, EXPLAINED), EXPLAINED, H200[0])
        said = [("shared load wavefronts 33,792 33,793 recorded", "time of 2 launches 3 µs",
                 "L2 1 TB/s 4 TB/s at most (25.0 %)", "−96.9 %\n73.1 % of waiting",
                 "1,234 samples of a warp that waits: </script>", "90\n}\n2.0 % of waiting\n91",
                 EVIL + " = tile[threadIdx.x][row]"),
                ("Without line information", "+0x0080"), ("Its text is not in the answer.", EVIL)]
        for kernel, texts in enumerate([*said, (), (), (), ("accessed no memory", EVIL)]):
            self.open(file, f"view=explain&kernel={kernel}")
            self.says(*texts)
            self.assert_not_owned()
        self.open(file, "view=explain&why=1")
        self.assertNotIn("of waiting", self.main())
        self.open(file)
        self.says("entries")

    def test_unusual_documents(self):
        def empty(document):
            document["benchmarks"] = []
            document["fathom"].update(facts=[], claims=[], probes=[])
            document["context"]["fathom"]["fingerprint"]["gpu_name"] = "GPU of tomorrow"
        file = page("empty", edited("empty", empty))
        for view in VIEWS:
            self.get(file, f"view={view}")
            self.assertGreater(len(self.main()), 20, view)
        self.open(file)
        self.says("no entries", "GPU of tomorrow")
        self.open(page("twins", H200[0], H200[0]), "view=history")
        self.assertIn("(2)", self.all("#documents")[0].text)

    def test_a_hundred_thousand_entries(self):
        def many(document):
            rows = document["benchmarks"]
            one = min(rows, key=lambda b: len(json.dumps(b)))
            for number in range(100_000 - len(rows)):
                name = f"{one['name']}/copy:{number}"
                rows.append(dict(one, name=name, run_name=name))
        self.open(page("many", edited("many", many)), "view=overview")
        self.says("100000 entries")

    def test_bad_documents_get_one_sentence(self):
        (WORK / "torn.json").write_text(H200[0].read_text()[:9999])
        (WORK / "why-torn.json").write_text(EXPLAINED.read_text()[:9999])
        edited("older", lambda d: d["context"]["fathom"].update(schema_version=99))
        edited("why-newer", lambda a: a.update(format="fathom explain 99"), EXPLAINED)
        for bad in "torn", "older", "none", "why-torn", "why-newer":
            ran = fathom("report", "--html", H200[0], WORK / f"{bad}.json", "--out",
                         WORK / "bad.html")
            self.assertNotEqual(ran.returncode, 0)
            self.assertIn(f"{bad}.json", ran.stderr)
            self.assertLessEqual(len(ran.stderr.strip().splitlines()), 2, ran.stderr)
            self.assertFalse((WORK / "bad.html").exists())
        ran = fathom("report", *H200[:2])
        self.assertEqual(ran.returncode, 2)
        self.assertIn("--html", ran.stderr)


class Markdown(Page):
    def measured(self, file):
        """Height of a Markdown page in screens of 1,000 px, and its tables wider than 1,012 px."""
        html = subprocess.run(["cmark-gfm", "--unsafe", "-e", "table", "-e", "strikethrough", "-e",
                               "autolink", "-e", "tagfilter", file], capture_output=True, text=True,
                              check=True).stdout
        shown = WORK / "markdown.html"
        shown.write_text(
            f'<!doctype html><meta charset="utf-8"><base href="{file.parent.as_uri()}/">'
            f'<link rel="icon" href="data:,"><style>{GITHUB}</style><main>{html}</main>')
        self.get(shown)
        wide = self.script("[...document.querySelectorAll('table')].filter("
                           "t => t.scrollWidth > t.clientWidth).map(t => t.innerText.slice(0, 60))")
        return self.script("document.querySelector('main').scrollHeight") / 1000, wide

    def test_markdown_pages_have_at_most_ten_screens(self):
        if not shutil.which("cmark-gfm"):
            self.skipTest("cmark-gfm is not there")
        self.size(1012)
        files = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")),
                 *sorted(RECORDINGS.rglob("*.md"))]
        # As this build writes them, also those that are not committed.
        shutil.rmtree(WORK / "markdown", ignore_errors=True)
        for result in sorted(RECORDINGS.glob("*/**/result.json")):
            out = WORK / "markdown" / result.parent.relative_to(RECORDINGS)
            succeeds("report", result, "--recordings", RECORDINGS, "--out", out)
            files += sorted(out.glob("*.md"))
        self.assertGreater(len(files), 65)
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
        self.assertGreater(self.measured(long)[0], 10)


if __name__ == "__main__":
    main()
