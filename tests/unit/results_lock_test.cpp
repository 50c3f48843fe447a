#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/device_lock.h"
#include "test_folder.h"
#include "tests/testing.h"

namespace {

using fathom::DeviceLock;
using namespace std::chrono_literals;

/// A folder of its own for the locks, and no lock inherited from whoever runs the tests.
struct LockFolder : Environment {
  LockFolder() {
    set("FATHOM_LOCK_DIR", folder.path().string());
    set("FATHOM_LOCK_FD", "");
  }
  std::filesystem::path file(const std::string& hash) const {
    return folder / ("fathom-gpu-" + hash + ".lock");
  }

  fathom::TestFolder folder;
};

/// How a lock is refused that is held, as by another process: it is the open file's.
std::string refusal(const std::string& hash) {
  const Refusal refused = refusal_of([&] { DeviceLock lock(hash); });
  CHECK((refused.text.empty() || refused.code == fathom::ExitCode::gpu_busy));
  return refused.text;
}

TEST_CASE("A lock that is held is refused with its holder's name", "[results][lock]") {
  const LockFolder folder;
  const std::string own = "process " + std::to_string(getpid());
  {
    const DeviceLock held("a");
    CHECK_THAT(refusal("a"),
               contains(own) && contains(", since 20") && contains("Z)") && contains("--wait"));
    CHECK(refusal("b").empty());  // another GPU is free
  }
  CHECK(std::filesystem::file_size(folder.file("a")) > 0);  // its name is still there
  std::ofstream(folder.file("a")) << "not a process id\n\n";
  const DeviceLock again("a");
  CHECK_THAT(refusal("a"), contains(own));
  for (const auto& [garbage, said] :
       {std::pair{"", "another process"}, {"x\x1b\ny", "x<U+001B> or"}}) {
    std::ofstream(folder.file("a")) << garbage;
    CHECK_THAT(refusal("a"), contains(said));
  }
}

TEST_CASE("Waiting has a limit, and whom it is for is told once", "[results][lock]") {
  const LockFolder folder;
  const DeviceLock held("a");
  std::vector<std::string> told;
  const auto tell = [&](const std::string& who) { told.push_back(who); };
  const Refusal refused = refusal_of([&] { DeviceLock("a", 1s, tell); });
  CHECK(refused.code == fathom::ExitCode::gpu_busy);
  REQUIRE(told.size() == 1);
  CHECK_THAT(told.front(), contains(std::to_string(getpid())));
}

TEST_CASE("A child uses its parent's lock and takes no second one", "[results][lock]") {
  LockFolder folder;
  DeviceLock lock("a"), other("b");
  const std::string text = lock.share_with_children();
  CHECK((fcntl(std::stoi(text), F_GETFD) & FD_CLOEXEC) == 0);
  folder.set("FATHOM_LOCK_FD", text);
  CHECK(refusal("a").empty());
  // The end of the child's has not freed the parent's, and what is not this GPU's lock is ignored.
  for (const std::string& value : {other.share_with_children(), std::string("987654"),
                                   std::string("-1"), std::string("seven"), std::string()}) {
    CAPTURE(value);
    folder.set("FATHOM_LOCK_FD", value);
    CHECK_FALSE(refusal("a").empty());
  }
}

TEST_CASE("The lock file is usable by other users and is no link", "[results][lock]") {
  LockFolder folder;
  const mode_t mask = umask(077);
  { const DeviceLock lock("a"); }
  umask(mask);
  const auto permissions = std::filesystem::status(folder.file("a")).permissions();
  CHECK(static_cast<unsigned>(permissions) == 0666);

  const auto target = folder.folder.write("target", "precious");
  std::filesystem::create_symlink(target, folder.file("c"));
  CHECK_THAT(refusal("c"), contains("cannot be locked"));
  CHECK(std::filesystem::file_size(target) == 8);

  folder.set("FATHOM_LOCK_DIR", "/nonexistent");
  CHECK_THAT(refusal("d"), contains("(No such file or directory)"));
}

}  // namespace
