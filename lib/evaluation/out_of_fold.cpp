#include "evaluation/out_of_fold.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "checkpoint/retention.h"
#include "infer/infer_files.h"
#include "system/file_io.h"
#include "system/log.h"

namespace tpack {
namespace {

/// The checkpoint to use for a run; nothing if it has none.
std::optional<std::string> checkpoint_of(const std::string& run) {
  const std::string folder = run + "/checkpoints";
  if (const auto newest = newest_valid_checkpoint(folder)) return newest->path;
  const std::vector<std::string> others = list_other_checkpoints(folder);
  return others.empty() ? std::nullopt : std::optional(others[0]);
}

/// A line of CSV without its first field, which is the index in the data.
struct Row {
  int64_t index = 0;
  std::string text;

  explicit Row(const std::string& line) : index(std::stoll(line)), text(line.substr(line.find(',') + 1)) {}
};

/// Lines of CSV, whose quoted fields may have line ends.
std::vector<std::string> rows_of(const std::string& text) {
  std::vector<std::string> rows;
  bool is_quoted = false;
  std::string row;
  for (const char c : text) {
    is_quoted ^= c == '"';
    if (c != '\n' || is_quoted) {
      row += c;
    } else {
      rows.push_back(std::exchange(row, ""));
    }
  }
  return rows;
}

}  // namespace

void write_out_of_fold(const std::vector<std::string>& runs, const std::string& path) {
  std::string header;
  std::vector<Row> rows;
  const std::string part = path + ".part";
  bool are_best = false;
  for (size_t fold = 0; fold < runs.size(); ++fold) {
    const auto checkpoint = checkpoint_of(runs[fold]);
    if (!checkpoint) {
      log::info(std::string("no ") + kOutOfFoldFile + ": " + runs[fold] +
                " has no checkpoint; add ModelSaver to the callbacks");
      return;
    }
    const auto model = InferenceModel::load(*checkpoint);
    if (model->config().predict.outputs.is_null()) {
      log::info(std::string("no ") + kOutOfFoldFile +
                ": the config has no outputs to predict; add predict: {outputs: ...}");
      return;
    }
    are_best |= !std::filesystem::path(*checkpoint).filename().string().starts_with("model-");
    InferOptions options;
    options.format = "csv";
    options.output = part;
    options.data = "validation";
    options.all_columns = true;
    infer_files(*model, {}, options);
    const std::vector<std::string> lines = rows_of(read_whole_file(part).value_or(""));
    std::filesystem::remove(part);
    if (lines.empty()) continue;
    header = lines[0].substr(lines[0].find(',') + 1) + ",fold";
    for (size_t i = 1; i < lines.size(); ++i) rows.emplace_back(lines[i] + "," + std::to_string(fold));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.index < b.index; });
  std::string text = header + "\n";
  for (const Row& row : rows) text += row.text + "\n";
  write_whole_file(path, text);
  log::info(
      "wrote " + path +
      (are_best
           ? " with the checkpoints of the best epochs; these were chosen on the same rows, so results look "
             "better than on new data; add ModelSaver to the callbacks to use those of the last epochs"
           : ""));
}

}  // namespace tpack
