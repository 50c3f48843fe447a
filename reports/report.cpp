#include "reports/report.h"

#include <functional>

#include "reports/facts.h"
#include "reports/markdown.h"
#include "reports/sections.h"
#include "results/files.h"

namespace fathom {

namespace fs = std::filesystem;

ReportPaths write_report(const Document& document, const fs::path& folder,
                         const std::string& document_name, const reports::CardCheck* card) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail_write(folder, error.value());

  using reports::PageContext;
  const auto write = [&](const std::string& name,
                         const std::function<void(PageContext&)>& sections) {
    reports::Page page(document.source == Source::replay);
    PageContext writing{document, page, document_name, card};
    sections(writing);
    write_file_atomically(folder / name, page.text());
    return folder / name;
  };
  const fs::path readme = write("README.md", [](PageContext& to) {
    to.page.explore("view=overview");
    write_title(to);
    write_verdict(to);
    write_environment(to);
    write_bounds(to);
    write_opponents(to);
    write_facts(to);
    write_probes(to);
    write_claims(to);
    write_method(to);
  });
  fs::path atlas;
  if (reports::has_atlas(document)) atlas = write(reports::atlas_file, reports::write_atlas);
  std::vector<fs::path> pages;
  for (const ProbeSummary& probe : document.probes)
    for (const std::string& section : reports::pages_of(document, probe))
      pages.push_back(write(reports::page_file(probe, section),
                            [&](PageContext& to) { write_probe_page(to, probe, section); }));
  return {readme, atlas, pages};
}

}  // namespace fathom
