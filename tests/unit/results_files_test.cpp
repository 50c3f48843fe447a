#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <csignal>

#include "in_processes.h"
#include "results/document_io.h"
#include "results/files.h"
#include "sample_document.h"
#include "test_folder.h"
#include "tests/testing.h"

using namespace fathom;
namespace fs = std::filesystem;

namespace {

std::string unpacked(const std::string& bytes, std::size_t limit) {
  const TestFolder folder;
  return read_file_up_to(folder.write("f.gz", bytes), limit);
}

std::size_t unfinished_in(const fs::path& folder) {
  std::size_t found = 0;
  for (const auto& file : fs::directory_iterator(folder))
    found += file.path().extension() == ".tmp";
  return found;
}

}  // namespace

TEST_CASE("A file of Fathom's own replaces a link and leaves what it names", "[results]") {
  const TestFolder folder;
  const fs::path victim = folder.write("victim", "precious"), link = folder / "page.md";
  for (const bool atomically : {true, false}) {
    fs::create_symlink(victim, link);
    if (atomically)
      write_file_atomically(link, "page");
    else
      write_all(create_file(link).get(), "page", link);
    CHECK(fs::is_regular_file(fs::symlink_status(link)));
    CHECK(file_text(link) == "page");
    fs::remove(link);
  }
  CHECK(file_text(victim) == "precious");
}

TEST_CASE("Writing says what stands in the way, and keeps the old file", "[results]") {
  const TestFolder folder;
  const auto check = [](const fs::path& path, const std::string& text, ExitCode expected) {
    const Refusal refused = refusal_of([&] { write_file_atomically(path, text); });
    CHECK(refused.code == expected);
    if (expected != ExitCode::ok) CHECK_THAT(refused.text, contains(path.string()));
  };
  for (const fs::path& path :
       {fs::path("/nonexistent/file"), fs::path("/proc/file"), folder.path()})
    check(path, "x", ExitCode::output_unwritable);
  check(folder / "file", "old", ExitCode::ok);
  // A file that may not grow stands for a disk that is full: the write ends in the middle.
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto previous = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  check(folder / "file", std::string(2000, 'x'), ExitCode::output_full);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, previous);
  CHECK(file_text(folder / "file") == "old");
  CHECK(unfinished_in(folder.path()) == 0);
}

TEST_CASE("A named output follows links, and writes to what is no regular file", "[results]") {
  const TestFolder folder;
  fs::create_directories(folder / "place");
  fs::create_symlink("place/second", folder / "first");
  fs::create_symlink("target", folder / "place/second");
  OutputFile output(folder / "first");
  CHECK_FALSE(output.is_stream());
  output.write("one");
  output.write("two");  // replaces
  CHECK(file_text(folder / "place/target") == "two");
  CHECK(fs::is_symlink(folder / "first"));
  CHECK(fs::is_symlink(folder / "place/second"));
  CHECK(unfinished_in(folder / "place") == 0);
  CHECK(OutputFile("/dev/null").is_stream());
  OutputFile full("/dev/full");
  CHECK(refusal_of([&] { full.write("x"); }).code == ExitCode::output_full);
  fs::create_symlink("turn", folder / "turn");
  CHECK_THROWS_AS(OutputFile(folder / "turn"), Error);
  CHECK_THROWS_AS(OutputFile(folder.path()), Error);
}

TEST_CASE("Two names of one file are found, there or not, and devices may be shared", "[results]") {
  const TestFolder folder;
  const fs::path file = folder.write("file", "x"), other = folder / "other";
  fs::create_hard_link(file, folder / "hard");
  fs::create_symlink("file", folder / "soft");
  fs::create_symlink(".", folder / "again");
  fs::create_symlink("other", folder / "to_other");  // what it will name
  const auto check = [](const fs::path& first, const fs::path& second, ExitCode expected) {
    const auto as_input = [&] { require_distinct({{"input", first}}, {{"--json", second}}); };
    const auto as_output = [&] { require_distinct({}, {{"--json", first}, {"--junit", second}}); };
    CHECK(refusal_of(as_input).code == expected);
    CHECK(refusal_of(as_output).code == expected);
  };
  for (const char* name : {"file", "hard", "soft", "again/file", "./again/again/hard"})
    check(file, folder / name, ExitCode::bad_input);
  for (const char* name : {"again/other", "to_other"})
    check(other, folder / name, ExitCode::bad_input);
  check(file, other, ExitCode::ok);
  check("/dev/null", "/dev/null", ExitCode::ok);
  CHECK_FALSE(fs::exists(other));
}

TEST_CASE("What a killed process left goes, and what one still writes stays", "[results]") {
  const TestFolder folder;
  const fs::path file = folder / "page.md", dead = folder.write("page.md.1-0123abcd.tmp", "half"),
                 alive = folder.write("page.md.2-0123abcd.tmp", "half");
  const FileDescriptor held(open(alive.c_str(), O_WRONLY | O_CLOEXEC));
  REQUIRE(flock(held.get(), LOCK_EX | LOCK_NB) == 0);
  const auto others = {"page.md.tmp",
                       "page.md.1-0123abc.tmp",
                       "page.md.-0123abcd.tmp",
                       "page.md.1-0123ABCD.tmp",
                       "other.md.1-0123abcd.tmp",
                       "page.md.1-0123abcd.tmp.txt"};
  for (const char* name : others) folder.write(name, "somebody's");
  write_file_atomically(file, "whole");
  CHECK_FALSE(fs::exists(dead));
  CHECK(fs::exists(alive));
  for (const char* name : others) CHECK(fs::exists(folder / name));
}

TEST_CASE("Writers of one file at a time lose nothing to each other's sweeping", "[results]") {
  const TestFolder folder;
  const std::string whole(100'000, 'x');
  in_processes(6, [&](int) {
    for (int i = 0; i < 40; ++i) write_file_atomically(folder / "result.json", whole);
  });
  CHECK(file_text(folder / "result.json") == whole);
  CHECK(unfinished_in(folder.path()) == 0);
}

TEST_CASE("What is packed is unpacked again, up to a limit", "[results]") {
  for (const std::size_t size : {0u, 1u, 3000001u}) {
    const std::string text(size, 'x'), packed = gzip(text);
    CHECK(packed.size() < 4000);
    CHECK(unpacked(packed, std::max(size, packed.size())) == text);
    if (size > 1 << 20) CHECK_THROWS_AS(unpacked(packed, packed.size()), Error);
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

namespace {

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

  TestFolder folder;
};

/// How a lock is refused that is held, as by another process: it is the open file's.
std::string refusal(const std::string& hash) {
  const Refusal refused = refusal_of([&] { lock_gpu(hash); });
  CHECK((refused.text.empty() || refused.code == ExitCode::gpu_busy));
  return refused.text;
}

TEST_CASE("A lock that is held is refused with its holder's name", "[results][lock]") {
  const LockFolder folder;
  const std::string own = "process " + std::to_string(getpid());
  {
    const FileDescriptor held = lock_gpu("a");
    CHECK_THAT(refusal("a"),
               contains(own) && contains(", since 20") && contains("Z)") && contains("--wait"));
    CHECK(refusal("b").empty());  // another GPU is free
  }
  CHECK(std::filesystem::file_size(folder.file("a")) > 0);  // its name is still there
  std::ofstream(folder.file("a")) << "not a process id\n\n";
  const FileDescriptor again = lock_gpu("a");
  CHECK_THAT(refusal("a"), contains(own));
  for (const auto& [garbage, said] :
       {std::pair{"", "another process"}, {"x\x1b\ny", "x<U+001B> or"}}) {
    std::ofstream(folder.file("a")) << garbage;
    CHECK_THAT(refusal("a"), contains(said));
  }
}

TEST_CASE("Waiting has a limit, and whom it is for is told once", "[results][lock]") {
  const LockFolder folder;
  const FileDescriptor held = lock_gpu("a");
  std::vector<std::string> told;
  const auto tell = [&](const std::string& who) { told.push_back(who); };
  const Refusal refused = refusal_of([&] { lock_gpu("a", 1s, tell); });
  CHECK(refused.code == ExitCode::gpu_busy);
  REQUIRE(told.size() == 1);
  CHECK_THAT(told.front(), contains(std::to_string(getpid())));
}

TEST_CASE("A child uses its parent's lock and takes no second one", "[results][lock]") {
  LockFolder folder;
  const FileDescriptor lock = lock_gpu("a"), other = lock_gpu("b");
  const std::string text = share_with_children(lock);
  CHECK((fcntl(std::stoi(text), F_GETFD) & FD_CLOEXEC) == 0);
  folder.set("FATHOM_LOCK_FD", text);
  CHECK(refusal("a").empty());
  // The end of the child's has not freed the parent's, and what is not this GPU's lock is ignored.
  for (const std::string& value : {share_with_children(other), std::string("987654"),
                                   std::string("-1"), std::string("seven"), std::string()}) {
    CAPTURE(value);
    folder.set("FATHOM_LOCK_FD", value);
    CHECK_FALSE(refusal("a").empty());
  }
}

TEST_CASE("The lock file is usable by other users and is no link", "[results][lock]") {
  LockFolder folder;
  const mode_t mask = umask(077);
  lock_gpu("a");
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
