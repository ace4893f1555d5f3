#pragma once

#include <string>
#include <vector>

#include "config/yaml_reader.h"
#include "dataflow/flow_helpers.h"

namespace tpack {

/// Flows on one CSV file.
class CsvFile {
 public:
  explicit CsvFile(const std::string& text) { path_ = folder_.write("a.csv", {text.begin(), text.end()}); }
  const std::string& path() const { return path_; }
  DataFlow flow(const std::string& params, const std::string& on_error = "stop") const {
    const bool says_shuffle = params.find("shuffle") != std::string::npos;
    const std::string source =
        "{CSV: {file: a.csv, " + std::string(says_shuffle ? "" : "shuffle: false, ") + params + "}}";
    return make_flow(
        parse_yaml("{flow: [" + source + "], on_error: " + on_error + "}", folder_.path("flow.yaml")));
  }
  std::string prepare_error(const std::string& params) const {
    return error_of([&] { flow(params).prepare(); });
  }

 private:
  TempFolder folder_;
  std::string path_;
};

/// All numbers of the samples of a pass, one vector per sample.
inline std::vector<std::vector<double>> samples_of(const DataFlow& flow, const Pass& pass = {}) {
  std::vector<std::vector<double>> all;
  const auto cursor = flow.open(pass);
  for (Datapoint d; cursor->next(d);) {
    auto& sample = all.emplace_back();
    for (size_t i = 0; i < d.size(); ++i)
      for (int64_t e = 0; e < d.tensor(i).elements(); ++e) sample.push_back(d.tensor(i).at(e));
  }
  return all;
}

}  // namespace tpack
