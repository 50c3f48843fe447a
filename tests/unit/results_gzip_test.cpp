#include "results/atomic_file.h"
#include "results/document_io.h"
#include "sample_document.h"
#include "test_folder.h"
#include "tests/testing.h"

namespace fathom {
namespace {

std::string unpacked(const std::string& bytes, std::size_t limit) {
  const TestFolder folder;
  folder.write("f.gz", bytes);
  return read_file_up_to(folder / "f.gz", limit);
}

TEST_CASE("What is packed is unpacked again, up to a limit", "[results]") {
  for (const std::size_t size : {0u, 1u, 1u << 20, 3000001u}) {
    const std::string text(size, 'x'), packed = gzip(text);
    CHECK(packed.size() < 4000);
    CHECK(unpacked(packed, std::max(size, packed.size())) == text);
    if (size > 1 << 20)
      CHECK_THROWS_MATCHES(unpacked(packed, packed.size()), Error,
                           MessageMatches(contains("f.gz is no whole gzip file")));
  }
}

TEST_CASE("A gzip file that is cut off or changed is refused", "[results]") {
  const std::string packed = gzip(to_text(sample::empty_run()));
  std::string changed = packed;
  changed[packed.size() - 6] ^= 1;  // of its checksum
  for (const std::string& bytes :
       {changed, packed.substr(0, packed.size() / 2), packed.substr(0, packed.size() - 1),
        packed.substr(0, 2), packed + packed, packed + "x"})
    CHECK_THROWS_MATCHES(unpacked(bytes, 1 << 20), Error,
                         MessageMatches(contains("f.gz is no whole gzip file")));
}

}  // namespace
}  // namespace fathom
