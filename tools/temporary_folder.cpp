#include "tools/temporary_folder.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <system_error>

#include "results/error.h"

namespace fathom {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder(const std::string& instead) {
  std::string pattern = (fs::temp_directory_path() / "fathom-XXXXXX").string();
  if (!mkdtemp(pattern.data()))
    throw Error(ExitCode::output_unwritable,
                fmt::format("{} cannot be made: {}.", pattern, instead));
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace fathom
