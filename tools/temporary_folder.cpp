#include "tools/temporary_folder.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <system_error>

#include "results/fail.h"

namespace fathom {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder(const std::string& instead) {
  std::error_code nowhere;
  const fs::path parent = fs::temp_directory_path(nowhere);
  std::string pattern = (parent / "fathom-XXXXXX").string();
  if (nowhere)
    fail(ExitCode::output_unwritable, "There is no folder for temporary files ({}): {}.",
         nowhere.message(), instead);
  if (!mkdtemp(pattern.data()))
    fail(ExitCode::output_unwritable, "{} cannot be made: {}.", pattern, instead);
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace fathom
