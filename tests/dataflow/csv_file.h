#pragma once

#include <string>
#include <vector>

#include "dataflow/flow_helpers.h"

namespace tpack {

/// Flows on one CSV file.
class CsvFile {
 public:
  explicit CsvFile(const std::string& text) { path_ = folder_.write_text("a.csv", text); }
  const std::string& path() const { return path_; }
  DataFlow flow(const std::string& params, const std::string& on_error = "stop") const {
    const bool says_shuffle = params.find("shuffle") != std::string::npos;
    const std::string source =
        "{CSV: {file: a.csv, " + std::string(says_shuffle ? "" : "shuffle: false, ") + params + "}}";
    return folder_.flow("{flow: [" + source + "], on_error: " + on_error + "}");
  }
  std::string prepare_error(const std::string& params) const {
    return error_of([&] { flow(params).prepare(); });
  }

 private:
  TempFolder folder_;
  std::string path_;
};

}  // namespace tpack
