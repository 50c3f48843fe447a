#pragma once

#include <string>
#include <vector>

#include "results/document.h"

namespace fathom::reports {

using FactList = std::vector<const Fact*>;

/// Facts that one table holds side by side: a row for each subject, a column for each quantity.
struct FactGrid {
  struct Row {
    std::string subject;
    FactList facts;  ///< one for each quantity; null where there is none
  };
  std::vector<std::string> quantities;
  std::vector<Row> rows;

  std::size_t facts() const;
};

/// What a list of facts becomes for a reader. Facts without a value are in neither part.
struct GroupedFacts {
  std::vector<FactGrid> grids;  ///< the one with most rows first
  FactList others;              ///< of quantities that too few subjects have to be compared
};

/// A quantity that three subjects have is a column. It stands beside another one that shares half
/// of its subjects, if they are a third of the other one's, and otherwise in a grid of its own.
GroupedFacts group_facts(const FactList& facts);

}  // namespace fathom::reports
