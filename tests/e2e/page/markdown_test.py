#!/usr/bin/env python3
"""How long the Markdown pages are where GitHub shows them: by cmark-gfm, GitHub's own reader."""

import shutil
import subprocess
import sys

from browser import RECORDINGS, ROOT, WORK, Page, main, succeeds

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
