#include "reports/report.h"

#include <fmt/format.h>

#include "reports/hierarchy.h"
#include "reports/markdown.h"
#include "reports/sections.h"
#include "results/atomic_file.h"

namespace fathom {

namespace fs = std::filesystem;

const Picture* reports::Pictures::get(const std::string& key, const std::string& stem,
                                      const Draw& draw) {
  const auto [known, is_new] = drawn_.try_emplace(key);
  std::optional<Picture>& picture = known->second;
  if (is_new) {
    std::string name = stem;
    for (int n = 2; !stems_.insert(name).second; ++n) name = fmt::format("{}-{}", stem, n);
    picture = draw(folder_, name);
    if (picture) {
      written_.push_back(folder_ / picture->light);
      written_.push_back(folder_ / picture->dark);
    }
  }
  return picture ? &*picture : nullptr;
}

const Picture* reports::Writing::show(const std::string& key, const std::string& stem,
                                      const Pictures::Draw& draw) {
  const Picture* picture = pictures.get(key, stem, draw);
  if (picture != nullptr) page.picture(picture->light, picture->dark, picture->alt);
  return picture;
}

ReportPaths write_report(const Document& document, const fs::path& folder,
                         const std::string& document_name) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail_write(folder, error.value());

  reports::Page page(document.source == Source::replay);
  reports::Pictures pictures(folder, gnuplot_problem());
  reports::Writing writing{document, page, pictures, document_name};
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
  write_file_atomically(readme, page.text());
  fs::path atlas;
  if (reports::has_atlas(document)) {
    reports::Page atlas_page(document.source == Source::replay);
    reports::Writing writing_atlas{document, atlas_page, pictures, document_name};
    reports::write_atlas(writing_atlas);
    atlas = folder / reports::atlas_file;
    write_file_atomically(atlas, atlas_page.text());
  }
  std::vector<fs::path> pages;
  for (const ProbeSummary& probe : document.probes) {
    if (!reports::has_page(document, probe)) continue;
    reports::Page probe_page(document.source == Source::replay);
    reports::Writing writing_page{document, probe_page, pictures, document_name};
    reports::write_probe_page(writing_page, probe);
    pages.push_back(folder / reports::page_file(probe));
    write_file_atomically(pages.back(), probe_page.text());
  }
  return {readme, atlas, pages, pictures.written()};
}

}  // namespace fathom
