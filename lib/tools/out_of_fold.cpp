#include "tools/out_of_fold.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <tuple>

#include "checkpoint/retention.h"
#include "core/text.h"
#include "system/file_io.h"
#include "system/log.h"
#include "tools/infer_files.h"

namespace tpack {
namespace {

/// The checkpoint that speaks for a run; nothing if it has none.
std::optional<std::string> checkpoint_of(const std::string& run) {
  const std::string folder = run + "/checkpoints";
  if (const auto newest = newest_valid_checkpoint(folder)) return newest->path;
  const std::vector<std::string> others = list_other_checkpoints(folder);
  return others.empty() ? std::nullopt : std::optional(others[0]);
}

/// A line of CSV, to be sorted: "a.csv:2" comes before "a.csv:10".
struct Row {
  std::string file;
  int64_t line = 0;
  std::string text;

  explicit Row(std::string of) : text(std::move(of)) {
    const bool is_quoted = text.starts_with('"');
    const size_t end = is_quoted ? text.find("\",") : text.find(',');
    file = text.substr(0, end);
    const size_t colon = file.find_last_not_of("0123456789");
    if (colon == std::string::npos || colon + 1 == file.size() || (file[colon] != ':' && file[colon] != ' '))
      return;
    line = std::stoll(file.substr(colon + 1).substr(0, 18));
    file.resize(colon);
  }
};

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
                ": the config does not say what to predict; add predict: "
                "{outputs: ...}");
      return;
    }
    are_best |= !std::filesystem::path(*checkpoint).filename().string().starts_with("model-");
    InferOptions options;
    options.format = "csv";
    options.output = part;
    options.data = "validation";
    infer_files(*model, {}, options);
    std::vector<std::string> lines = split(read_whole_file(part).value_or(""), '\n');
    std::filesystem::remove(part);
    if (!lines.empty() && lines.back().empty()) lines.pop_back();
    if (lines.empty()) continue;
    header = lines[0] + ",fold";
    for (size_t i = 1; i < lines.size(); ++i) rows.emplace_back(lines[i] + "," + std::to_string(fold));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::tie(a.file, a.line) < std::tie(b.file, b.line);
  });
  std::string text = header + "\n";
  for (const Row& row : rows) text += row.text + "\n";
  write_whole_file(path, text);
  log::info(
      "wrote " + path +
      (are_best ? " with the checkpoints of the best epochs, which were chosen on the same rows, and so look "
                  "better than on new ones; with ModelSaver in the callbacks, it is those of the last epochs"
                : ""));
}

}  // namespace tpack
