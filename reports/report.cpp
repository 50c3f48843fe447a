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

std::string reports::Writing::stem(const std::string& wanted) {
  std::string name = wanted;
  for (int n = 2; !stems.insert(name).second; ++n) name = fmt::format("{}-{}", wanted, n);
  return name;
}

bool reports::Writing::show(const std::optional<Picture>& picture) {
  if (!picture) return false;
  page.picture(picture->light, picture->dark, picture->alt);
  pictures.push_back(folder / picture->light);
  pictures.push_back(folder / picture->dark);
  return true;
}

ReportPaths write_report(const Document& document, const fs::path& folder,
                         const std::string& document_name) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) refuse(folder, error.value());

  reports::Page page(document.source == Source::replay);
  reports::Writing writing{document, page, folder, document_name, gnuplot_problem(), {}, {}};
  reports::write_title(writing);
  reports::write_verdict(writing);
  reports::write_environment(writing);
  reports::write_bounds(writing);
  reports::write_opponents(writing);
  reports::write_facts(writing);
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
