#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/device_lock.h"
#include "test_folder.h"
#include "tests/testing.h"
#include "tools/child_process.h"

namespace {

using fathom::DeviceLock;
using namespace std::chrono_literals;
using IfHeld = DeviceLock::IfHeld;

/// A folder of its own for the locks, and no lock inherited from whoever runs the tests.
class LockFolder {
 public:
  LockFolder() {
    setenv("FATHOM_LOCK_DIR", folder_.path().c_str(), 1);
    unsetenv("FATHOM_LOCK_FD");
  }
  ~LockFolder() {
    unsetenv("FATHOM_LOCK_DIR");
    unsetenv("FATHOM_LOCK_FD");
  }
  std::filesystem::path file(const std::string& hash) const {
    return folder_ / ("fathom-gpu-" + hash + ".lock");
  }

 private:
  fathom::TestFolder folder_;
};

/// A second process that runs `body`, which may throw, and then waits to be ended.
class Child {
 public:
  explicit Child(const std::function<void()>& body) {
    std::array<int, 2> ends{};
    REQUIRE(pipe(ends.data()) == 0);
    const fathom::FileDescriptor told(ends[0]);
    fathom::FileDescriptor ready(ends[1]);
    fathom::ChildStart start;
    start.work = [&] {
      try {
        body();
      } catch (...) {
        return 1;
      }
      const pid_t own = getpid();
      if (write(ready.get(), &own, sizeof own) == sizeof own) pause();
      return 2;
    };
    process_.emplace(start);
    ready.close();
    REQUIRE(read(told.get(), &pid_, sizeof pid_) == sizeof pid_);
  }
  pid_t pid() const { return pid_; }
  void end() { process_.reset(); }

 private:
  pid_t pid_ = -1;
  std::optional<fathom::ChildProcess> process_;
};

/// Holds the lock as long as the process lives.
std::function<void()> holder(const std::string& hash) {
  return [hash] { new DeviceLock(hash, IfHeld::fail); };
}

std::string refusal(const std::string& hash) {
  const Refusal refused = refusal_of([&] { DeviceLock lock(hash, IfHeld::fail, 1h); });
  CHECK((refused.text.empty() || refused.code == fathom::ExitCode::gpu_busy));
  return refused.text;
}

TEST_CASE("A lock held by another process is refused with its holder's name", "[results][lock]") {
  const LockFolder folder;
  const Child child(holder("a"));
  const std::string message = refusal("a");
  CHECK_THAT(message, contains("process " + std::to_string(child.pid())) &&
                          contains(", since 20") && contains("Z)") && contains("--wait"));
  CHECK(refusal("b").empty());  // another GPU is free
}

TEST_CASE("A killed holder leaves no lock, garbage in the file stops nobody", "[results][lock]") {
  const LockFolder folder;
  Child(holder("a")).end();
  CHECK(std::filesystem::file_size(folder.file("a")) > 0);  // its name is still there
  {
    const DeviceLock lock("a", IfHeld::fail);
    CHECK(fathom::file_text(folder.file("a")).starts_with(std::to_string(getpid())));
  }
  std::ofstream(folder.file("a")) << "not a process id\n\n";
  const DeviceLock lock("a", IfHeld::fail);
  for (const auto& [garbage, said] :
       {std::pair{"", "another process"}, {"x\x1b\ny", "x<U+001B> or"}}) {
    std::ofstream(folder.file("a")) << garbage;
    CHECK_THAT(refusal("a"), contains(said));
  }
}

TEST_CASE("Waiting has a limit, and whom it is for is told once", "[results][lock]") {
  const LockFolder folder;
  const Child child(holder("a"));
  std::vector<std::string> told;
  const auto tell = [&](const std::string& who) { told.push_back(who); };
  const Refusal refused = refusal_of([&] { DeviceLock("a", IfHeld::wait, 1s, tell); });
  CHECK(refused.code == fathom::ExitCode::gpu_busy);
  CHECK_THAT(refused.text, contains("after 1 s of waiting"));
  REQUIRE(told.size() == 1);
  CHECK_THAT(told.front(), contains(std::to_string(child.pid())));
}

TEST_CASE("A child uses its parent's lock and takes no second one", "[results][lock]") {
  const LockFolder folder;
  DeviceLock lock("a", IfHeld::fail);
  const std::string text = lock.share_with_children();
  CHECK((fcntl(std::stoi(text), F_GETFD) & FD_CLOEXEC) == 0);
  setenv("FATHOM_LOCK_FD", text.c_str(), 1);
  {
    const Child child([] {
      { const DeviceLock inherited("a", IfHeld::fail); }
      // The end of the child's object must not free the parent's lock.
      unsetenv("FATHOM_LOCK_FD");
      if (refusal("a").empty()) throw std::runtime_error("the lock was freed");
    });
  }
  unsetenv("FATHOM_LOCK_FD");
  CHECK_FALSE(refusal("a").empty());
}

TEST_CASE("A FATHOM_LOCK_FD that is not this GPU's lock is ignored", "[results][lock]") {
  const LockFolder folder;
  const Child child(holder("a"));
  DeviceLock other("b", IfHeld::fail);
  for (const std::string& value : {other.share_with_children(), std::string("987654"),
                                   std::string("-1"), std::string("seven"), std::string()}) {
    CAPTURE(value);
    setenv("FATHOM_LOCK_FD", value.c_str(), 1);
    CHECK_FALSE(refusal("a").empty());
  }
}

TEST_CASE("The lock file is usable by other users and is no link", "[results][lock]") {
  const LockFolder folder;
  const mode_t mask = umask(077);
  { const DeviceLock lock("a", IfHeld::fail); }
  umask(mask);
  const auto permissions = std::filesystem::status(folder.file("a")).permissions();
  CHECK(static_cast<unsigned>(permissions) == 0666);

  const auto target = folder.file("target");
  std::ofstream(target) << "precious";
  std::filesystem::create_symlink(target, folder.file("c"));
  CHECK_THAT(refusal("c"), contains("cannot be opened"));
  CHECK(std::filesystem::file_size(target) == 8);

  setenv("FATHOM_LOCK_DIR", "/nonexistent", 1);
  CHECK_THAT(refusal("d"), contains("(No such file or directory)"));
}

}  // namespace
