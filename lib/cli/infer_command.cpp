#include <memory>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/options.h"
#include "core/error.h"
#include "experiment/file_samples.h"
#include "experiment/infer_files.h"

namespace tpack {
namespace {

struct InferCommandOptions {
  ModelArguments model;
  std::vector<std::string> files;
  InferOptions infer;
  bool skip_bad = false;
};

int infer(const InferCommandOptions& o) {
  if (o.infer.format == "hdf5" && o.infer.top_k != 1)
    throw ConfigError("--top-k is for jsonl and csv; --format hdf5 holds the scores of all classes");
  StoredModel model(o.model.file, o.model.overrides, o.model.allow_plugins);
  const std::vector<std::string> files = listed_files(o.files);
  const int64_t bad = infer_files(model, files, o.infer);
  if (bad == 0 || o.skip_bad) return 0;
  throw DataError(std::to_string(bad) + " of " + std::to_string(files.size()) +
                  " files gave no result (see above); with --skip-bad this is not an error");
}

void add_infer_options(CLI::App& command, Action& action) {
  auto options = std::make_shared<InferCommandOptions>();
  add_model_arguments(command, options->model);
  command
      .add_option("files", options->files,
                  "files, folders, @LIST (one path per line), or - (a list on stdin)")
      ->required();
  command
      .add_option(
          "--format", options->infer.format,
          "how predictions are written; hdf5: a dataset [files, ...] for each output, and the strings "
          "files, errors, labels")
      ->capture_default_str()
      ->check(CLI::IsMember({"jsonl", "csv", "hdf5"}));
  command.add_option("--output", options->infer.output, "file (default: stdout)")->check(not_empty());
  command.add_option("--top-k", options->infer.top_k, "number of best classes to write")
      ->capture_default_str()
      ->check(count_from(1));
  command.add_option("--labels", options->infer.labels,
                     "file of class names, one per line (default: the checkpoint's)");
  command.add_option("--batch", options->infer.batch, "files per batch")
      ->capture_default_str()
      ->check(count_from(1));
  command.add_flag("--skip-bad", options->skip_bad, "files that cannot be read are not an error");
  command.callback([options, &action] { action = [options] { return infer(*options); }; });
}

const Subcommand kInferCommand("infer", "Run a trained model on image files", add_infer_options);

}  // namespace
}  // namespace tpack
