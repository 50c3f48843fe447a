// Markdown: nothing that a document says becomes markup.

#include "reports/markdown.h"
#include "results/text.h"
#include "tests/testing.h"

using namespace fathom;
using namespace fathom::reports;

TEST_CASE("Text of a document is text on the page, and begins no list", "[reports]") {
  for (const auto& [text, escaped] :
       {std::pair{"a|b", "a&#124;b"},
        {"<b>&</b>", "&lt;b&gt;&amp;&lt;/b&gt;"},
        {"*a* `b` [c](d) ~~e~~", "\\*a\\* \\`b\\` \\[c\\](d) \\~\\~e\\~\\~"},
        {"copy_bandwidth _a_", "copy_bandwidth \\_a\\_"},
        {"$a$", "&#36;a&#36;"},
        {"a\\b", "a\\\\b"},
        {"Größe 1 µs", "Größe 1 µs"},
        {"# a", "\\# a"},
        {"- a", "\\- a"},
        {"+ a", "\\+ a"},
        {"1. a", "1\\. a"},
        {"1.5 a", "1.5 a"},
        {"    a", "a"},
        {"", ""}})
    CHECK(escape_text(text) == escaped);
}

TEST_CASE("Line breaks, control characters and broken bytes stay out", "[reports]") {
  CHECK(clean("a\nb\tc\x1b[31m") == "a b c<U+001B>[31m");
  CHECK(clean("a\xff"
              "b") ==
        "a\xEF\xBF\xBD"
        "b");
  CHECK(clean("\xC2\x9B"
              "31m") == "<U+009B>31m");  // U+009B starts an escape sequence too
  CHECK(clean("\xE2\x82") == "\xEF\xBF\xBD\xEF\xBF\xBD");
  // What turns the direction of text, or begins a line: neither is seen, and both deceive.
  CHECK(clean("a\u202Eb\u2028c\u2066d\u200Ee") == "a<U+202E>b<U+2028>c<U+2066>d<U+200E>e");
  CHECK(clean("\U000E0041 \U0001F600 \u00E9") == "<U+E0041> \U0001F600 \u00E9");
  // No character of XML.
  CHECK_THAT(clean("\xEF\xBF\xBF"), !contains("\xEF\xBF\xBF"));
}

TEST_CASE("A code span holds any name", "[reports]") {
  CHECK(code("copy/type:float4") == "`copy/type:float4`");
  CHECK(code("a|b`c<d>") == "<code>a&#124;b&#96;c&lt;d&gt;</code>");
  CHECK(code("") == "<code></code>");
}

TEST_CASE("A long table opens on a click, or is a link to the HTML page", "[reports]") {
  Table table({"a"});
  for (std::size_t i = 0; i <= Page::most_shown; ++i) table.add_row({"1"});
  Page page(false);
  page.table(escape_text("a_ *b* <c>"), table, "verdict: **failed**");
  CHECK_THAT(page.text(),
             contains("**a\\_ \\*b\\* &lt;c&gt;** · all rows: verdict: **failed**\n\n<details>\n"
                      "<summary>31 rows</summary>\n\n| a |"));
  Page shown(false);
  CHECK(shown.table("a", table, "", 31));
  CHECK_THAT(shown.text(), !contains("<details>"));
  Page beside(true);
  beside.explore("view=facts&q=" + url_encoded("a b"));
  CHECK_FALSE(beside.table("c", table));
  CHECK(beside.text() ==
        "REPLAY · **c**: [31 rows in the HTML page](index.html#view=facts&q=a%20b).\n");
}

TEST_CASE("Anchors of a page differ", "[reports]") {
  Page page(false);
  CHECK(page.heading(2, "a", "same") == "same");
  CHECK(page.heading(2, "b", "same") == "same-2");
  CHECK(page.heading(3, "c", "same") == "same-3");
}
