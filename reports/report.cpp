#include "reports/report.h"

#include <fmt/format.h>

#include "reports/hierarchy.h"
#include "reports/markdown.h"
#include "reports/sections.h"
#include "results/atomic_file.h"

namespace fathom {

namespace fs = std::filesystem;

ReportPaths write_report(const Document& document, const fs::path& folder,
                         const std::string& document_name, const reports::CardCheck* card) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail_write(folder, error.value());

  reports::Page page(document.source == Source::replay);
  page.explore("view=overview");
  reports::Writing writing{document, page, document_name, card};
  reports::write_title(writing);
  reports::write_verdict(writing);
  reports::write_environment(writing);
  reports::write_bounds(writing);
  reports::write_opponents(writing);
  reports::write_facts(writing);
  reports::write_probes(writing);
  reports::write_claims(writing);
  reports::write_method(writing);

  const fs::path readme = folder / "README.md";
  write_file_atomically(readme, page.text());
  fs::path atlas;
  if (reports::has_atlas(document)) {
    reports::Page atlas_page(document.source == Source::replay);
    reports::Writing writing_atlas{document, atlas_page, document_name};
    reports::write_atlas(writing_atlas);
    atlas = folder / reports::atlas_file;
    write_file_atomically(atlas, atlas_page.text());
  }
  std::vector<fs::path> pages;
  for (const ProbeSummary& probe : document.probes)
    for (const std::string& section : reports::pages_of(document, probe)) {
      reports::Page own(document.source == Source::replay);
      reports::Writing writing_page{document, own, document_name};
      reports::write_probe_page(writing_page, probe, section);
      pages.push_back(folder / reports::page_file(probe, section));
      write_file_atomically(pages.back(), own.text());
    }
  return {readme, atlas, pages};
}

}  // namespace fathom
