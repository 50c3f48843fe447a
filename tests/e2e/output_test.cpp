// Output folders that cannot be written, and disks that are full before or after measuring.

#include "sandbox.h"

namespace fathom {
namespace {

constexpr int no_mount = 99;

/// `fathom run` into "disk/out" on a file system of `size`, in a mount namespace of its own; what
/// it left is in "kept" then.
CapturedRun run_on_small_disk(const Sandbox& box, const std::string& size) {
  std::filesystem::create_directories(box.folder() / "disk");
  const std::string inside =
      "cd \"$1\" && mount -t tmpfs -o size=" + size + " none disk || exit 99; " + FATHOM_PROGRAM +
      " run --out disk/out; status=$?; rm -f disk/out/parts/*.ballast; cp -r disk/out kept; "
      "exit $status";
  const std::string unshare =
      geteuid() == 0 ? "unshare --mount" : "unshare --map-root-user --mount";
  return run_and_capture(
      "/bin/sh",
      {"-c", unshare + " true || exit 99; exec " + unshare + " sh -c '" + inside + "' sh \"$1\"",
       "sh", box.folder()},
      60s);
}

TEST_CASE("A folder that cannot be made is refused before anything is measured", "[e2e]") {
  Sandbox box({"first"});
  write_text(box.folder() / "file", "");
  for (const std::string out : {"file", "file/below", "/proc/fathom"}) {
    CAPTURE(out);
    expect(ExitCode::output_unwritable, box.fathom({"run", "--out", out}))
        .complains(out, "--out")
        .never_says("Measuring");
  }
}

TEST_CASE("A full disk is refused before anything is measured", "[e2e]") {
  Sandbox box({"first"});
  const auto run = run_on_small_disk(box, "4m");
  if (code(run) == no_mount) SKIP("this user cannot mount a small file system");
  INFO(run.output << run.errors);
  CHECK(code(run) == to_int(ExitCode::output_full));
  has(run.errors, "MiB free");
  CHECK_FALSE(std::filesystem::exists(box.folder() / "kept" / "logs" / "first.log"));
}

TEST_CASE("A disk that becomes full during the run costs no results", "[e2e]") {
  Sandbox box({"first", "hog"});
  const auto run = run_on_small_disk(box, "20m");
  if (code(run) == no_mount) SKIP("this user cannot mount a small file system");
  INFO(run.output << run.errors);
  CHECK(code(run) == to_int(ExitCode::output_full));
  has(run.errors, "parts");
  for (const char* probe : {"first", "hog"}) {
    const Document part =
        read_document(box.folder() / "kept" / "parts" / (std::string(probe) + ".json"));
    CHECK(entries_of(part, probe) == 2);
  }
}

}  // namespace
}  // namespace fathom
