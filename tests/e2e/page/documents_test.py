#!/usr/bin/env python3
"""The HTML page of documents that are not as usual: of `fathom explain`, of a slow card, hostile,
empty, huge, torn.
"""

import json

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from browser import (EVIL, EXPLAINED, H200, RECORDINGS, VIEWS, WORK, Page, edited, fathom, main,
                     page, succeeds)


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
        for name, whole in ("torn", H200[0]), ("why-torn", EXPLAINED):
            text = whole.read_text()
            (WORK / f"{name}.json").write_text(text[: len(text) // 2])
        older = edited("older", lambda d: d["context"]["fathom"].update(schema_version=99))
        newer = edited("why-newer", lambda a: a.update(format="fathom explain 99"), EXPLAINED)
        for bad in (WORK / "torn.json", older, WORK / "none.json", WORK / "why-torn.json", newer):
            ran = fathom("report", "--html", H200[0], bad, "--out", WORK / "bad.html")
            self.assertNotEqual(ran.returncode, 0)
            self.assertIn(bad.name, ran.stderr)
            self.assertLessEqual(len(ran.stderr.strip().splitlines()), 2, ran.stderr)
            self.assertFalse((WORK / "bad.html").exists())
        ran = fathom("report", *H200[:2])
        self.assertEqual(ran.returncode, 2)
        self.assertIn("--html", ran.stderr)


if __name__ == "__main__":
    main()
