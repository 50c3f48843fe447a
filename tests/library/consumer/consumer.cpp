// What somebody else's test would look like.

#include <fathom/models/global_memory.h>
#include <fathom/models/shared_memory.h>

#include <cstdio>

namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("not so: %s\n", what);
  ++failures;
}

}  // namespace

int main() {
  using namespace fathom::models;
  expect(wavefronts(strided(Access::load, 4, 4)) == 1, "contiguous words are one wavefront");
  expect(wavefronts(strided(Access::load, 4, 128)) == 32, "a column of 32 words is 32");
  expect(sectors(strided(Access::store, 4, 4)) == 4, "32 words are four sectors");
  return failures;
}
