#include "results/gzip.h"

#include "results/document_io.h"
#include "sample_document.h"
#include "tests/testing.h"

namespace fathom {
namespace {

TEST_CASE("What is packed is unpacked again, up to a limit", "[results]") {
  for (const std::size_t size : {0u, 1u, 1u << 20, 3000001u}) {
    const std::string text(size, 'x'), packed = gzip(text);
    CHECK(packed.size() < 4000);
    CHECK(gunzip(packed, size, "f") == text);
    if (size > 1 << 20)
      CHECK_THROWS_MATCHES(gunzip(packed, 1000, "f.gz"), Error,
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
    CHECK_THROWS_MATCHES(gunzip(bytes, 1 << 20, "f.gz"), Error,
                         MessageMatches(contains("f.gz is no whole gzip file")));
}

}  // namespace
}  // namespace fathom
