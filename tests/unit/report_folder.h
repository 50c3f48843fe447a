#pragma once

#include "reports/report.h"
#include "test_folder.h"

namespace fathom {

/// The page of a document.
inline std::string page_of(const Document& document) {
  const TestFolder folder;
  return file_text(write_report(document, folder.path()).readme);
}

}  // namespace fathom
