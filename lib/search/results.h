#pragma once

#include <string>

#include "search/search_file.h"

namespace tpack {

/// The runs of a search with their results, the best first.
class SearchResults {
 public:
  /// Reads the statistics of the runs in `folder`.
  SearchResults(const SearchRecord& record, const std::string& folder);

  /// Rank, number, values, best and last metric, epochs, time and state; for the terminal.
  std::string table() const;
  /// The same with full names, as CSV.
  std::string csv() const;
  /// The same as one JSON object, for scripts.
  std::string json() const;

 private:
  struct Row {
    const SearchRun* run = nullptr;
    MetricValues metric;
    std::string rank;  // empty without a value to compare
  };

  const SearchRecord& record_;
  std::string folder_;
  std::vector<Row> rows_;
};

}  // namespace tpack
