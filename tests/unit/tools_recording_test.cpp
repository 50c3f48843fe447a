// `fathom recording add`: what becomes a recording, what is refused, and what it no longer says.

#include "report_folder.h"
#include "reports/recordings.h"
#include "results/document_io.h"
#include "results/files.h"
#include "sample_document.h"
#include "tests/testing.h"
#include "tools/commands.h"

namespace fathom {
namespace {

/// A suite of which no recording came along, so that nothing is missing.
Document quick_run() {
  Document d = sample::empty_run();
  d.suite = "quick";
  d.fingerprint.gpu_name = "NVIDIA H200";
  d.fingerprint.gpu_uuid_hash = "0123456789abcdef";
  d.probes.emplace_back().name = "copy";
  Entry e;
  e.name = "copy/size:1GiB";
  e.probe = "copy";
  e.metric = {"bandwidth", "B/s", Better::higher, 4.3e12};
  d.entries = {e};
  return d;
}

struct Recordings : TestFolder {
  const std::filesystem::path root = path() / "recordings", first = root / "h200/quick";
  Recordings() { std::filesystem::create_directory(root); }
  ExitCode add(const Document& document) const {
    write_document(document, path() / "given.json");
    return add_recording({path() / "given.json", root});
  }
};

TEST_CASE("Cards of one model are recorded beside each other, each with its page", "[recording]") {
  const Recordings to;
  Document card = quick_run();
  CHECK(to.add(card) == ExitCode::ok);
  CHECK(read_document(to.first / "result.json.gz") == card);
  CHECK(std::filesystem::exists(to.first / "report/README.md"));
  CHECK_THROWS_MATCHES(to.add(card), Error, MessageMatches(contains("already")));

  for (const char first : {'a', 'b', 'c'}) {
    card.fingerprint.gpu_uuid_hash[0] = first;
    CHECK(to.add(card) == ExitCode::ok);
  }
  const auto second = to.root / "h200/cards/quick/2026-01-31-a1234567";
  CHECK(std::filesystem::exists(second / "result.json.gz"));
  CHECK(std::filesystem::exists(second / "report/README.md"));

  card.fingerprint.gpu_uuid_hash[0] = 'd';
  const auto checked = reports::card_of(card, to.root);
  REQUIRE(checked);
  CHECK(checked->cards == 4);
  CHECK(checked->state == reports::CardState::normal);
  // One that is broken is left out.
  for (const auto& broken : {to.first, second}) std::ofstream(broken / "result.json.gz") << "{";
  REQUIRE(reports::card_of(card, to.root));
  CHECK(reports::card_of(card, to.root)->cards == 2);
  CHECK(reports::card_of(card, to.root)->state == reports::CardState::unknown);
  card.source = Source::replay;
  CHECK(!reports::card_of(card, to.root));
}

TEST_CASE("A recording tells no paths and no addresses", "[recording]") {
  const Recordings to;
  Document card = quick_run();
  card.warnings = {"cannot open /home/alice/data.bin, nor ~/x: ask alice@example.org",
                   "4 GB/s and/or 5 B/s of 1/2 stay"};
  card.probes[0].method = "(/usr/bin/nvcc)";
  CHECK(to.add(card) == ExitCode::ok);
  const auto file = to.first / "result.json.gz";
  const Document recorded = read_document(file);
  CHECK(recorded.warnings[0] == "cannot open (withheld), nor (withheld): ask (withheld)");
  CHECK(recorded.warnings[1] == card.warnings[1]);
  CHECK(recorded.probes[0].method == "((withheld))");
  CHECK(recorded.entries == card.entries);
  CHECK_THAT(read_file_up_to(file, 1 << 20), !contains("alice"));
}

TEST_CASE("What is no whole measurement is refused", "[recording]") {
  const auto refused = [](const char* why, auto change) {
    const Recordings to;
    Document card = quick_run();
    change(card);
    CHECK_THROWS_MATCHES(to.add(card), Error, MessageMatches(contains(why)));
    CHECK(std::filesystem::is_empty(to.root));
  };
  refused("replay", [](Document& d) { d.source = Source::replay; });
  refused("suite `../..`", [](Document& d) { d.suite = "../.."; });
  refused("no entries", [](Document& d) { d.entries.clear(); });
  refused("which GPU", [](Document& d) { d.fingerprint.gpu_name.clear(); });
  refused("which GPU", [](Document& d) { d.fingerprint.gpu_uuid_hash.clear(); });
  refused("copy is not complete", [](Document& d) { d.probes[0].status = ProbeStatus::crashed; });
  refused("failed its check (wrong output)",
          [](Document& d) { d.entries[0].verdict.status = VerdictStatus::wrong_output; });
  refused("another process", [](Document& d) { d.entries[0].telemetry.other_processes = 1; });
  refused("run the whole suite", [](Document& d) { d.suite = "default"; });  // a part of it
  const Recordings to;
  std::filesystem::remove(to.root);
  CHECK_THROWS_MATCHES(to.add(quick_run()), Error, MessageMatches(contains("--recordings")));
}

}  // namespace
}  // namespace fathom
