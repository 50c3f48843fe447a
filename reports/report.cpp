#include "reports/report.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "reports/markdown.h"
#include "reports/sections.h"
#include "results/error.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  throw Error(full ? ExitCode::output_full : ExitCode::output_unwritable,
              fmt::format("{} cannot be written ({}): {}.", path.string(), std::strerror(error),
                          full ? "make room, or choose another folder with --out"
                               : "choose another folder with --out"));
}

void write_text(const fs::path& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) refuse(path, errno ? errno : EIO);
}

}  // namespace

ReportPaths write_report(const Document& document, const fs::path& folder,
                         const std::string& document_name) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) refuse(folder, error.value());

  reports::Page page(document.source == Source::replay);
  reports::Writing writing{document, page, folder, document_name, {}};
  reports::write_title(writing);
  reports::write_verdict(writing);
  reports::write_environment(writing);
  reports::write_bounds(writing);
  reports::write_opponents(writing);
  reports::write_probes(writing);
  reports::write_claims(writing);
  reports::write_counters(writing);
  reports::write_method(writing);
  reports::write_raw_data(writing);

  const fs::path readme = folder / "README.md";
  write_text(readme, page.text());
  return {readme, std::move(writing.pictures)};
}

}  // namespace fathom
