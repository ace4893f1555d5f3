#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/options.h"
#include "core/error.h"
#include "infer/infer_files.h"
#include "system/file_io.h"

namespace tpack {
namespace {

struct InferCommandOptions {
  ModelArguments model;
  std::vector<std::string> files;
  std::string format;  // empty: by the ending of the output
  InferOptions infer;
  std::vector<std::string> average;
  std::string augment;
  bool skip_bad = false;
};

/// The format: by default that of the file; only CSV has columns.
std::string format_of(const InferOptions& o) {
  const std::string ending = std::filesystem::path(o.output).extension().string();
  if (ending == ".h5" || ending == ".hdf5") return "hdf5";
  return ending == ".csv" || !o.columns.empty() ? "csv" : "jsonl";
}

int infer(const InferCommandOptions& given) {
  InferCommandOptions o = given;
  o.infer.format = o.format.empty() ? format_of(o.infer) : o.format;
  if (o.infer.format == "hdf5" && o.infer.top_k != 1)
    throw ConfigError("--top-k applies only to jsonl and csv; --format hdf5 has the scores of all classes");
  if (!o.infer.columns.empty() && o.infer.format != "csv")
    throw ConfigError("--columns applies only to --format csv, not " + o.infer.format);
  const int ways = (o.files.empty() ? 0 : 1) + (o.infer.count ? 1 : 0) + (o.infer.data.empty() ? 0 : 1);
  if (ways != 1)
    throw ConfigError(
        ways == 0 ? "no input files; name images, folders, @LIST or - for a list on standard input, or use "
                    "--data FLOW for the samples of a flow of the config, or --count N for a generator"
                  : "files, --data and --count cannot be combined; keep one");
  if (o.infer.full_size && o.files.empty())
    throw ConfigError("--full-size applies only to image files; name some");
  std::vector<std::unique_ptr<InferenceModel>> models;
  std::vector<const InferenceModel*> pointers;
  std::vector<std::string> checkpoints = {o.model.file};
  checkpoints.insert(checkpoints.end(), o.average.begin(), o.average.end());
  std::vector<std::string> read = checkpoints;
  read.push_back(o.infer.labels);
  read.emplace_back("/dev/stdin");
  for (const std::string& word : o.files) read.push_back(word.starts_with('@') ? word.substr(1) : word);
  reject_overwriting("--output", o.infer.output, read);
  for (const std::string& file : checkpoints) {
    models.push_back(InferenceModel::load(file, {o.model.overrides, o.model.allow_plugins}));
    pointers.push_back(models.back().get());
  }
  o.infer.flips = !o.augment.empty();
  const InferCounts counts = infer_files(pointers, o.files, o.infer);
  if (counts.bad == 0 || o.skip_bad) return 0;
  throw DataError(std::to_string(counts.bad) + " of " + std::to_string(counts.all) + " " + counts.unit +
                  " have no result (see above); with --skip-bad this is not an error");
}

/// The input instead of files, and its options.
void add_sample_options(CLI::App& command, const std::shared_ptr<InferCommandOptions>& options) {
  command
      .add_option("--count", options->infer.count,
                  "number of samples, instead of files, for a generator that needs no input")
      ->check(count_from(1));
  command
      .add_option(
          "--input", options->infer.inputs,
          "value of an input for all samples: a number, a list of numbers, or the name of a class; may be "
          "repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command.add_flag("--full-size", options->infer.full_size,
                   "predict each image in its own size, without the crops and resizes of the flow, for "
                   "networks that take any size (fully convolutional ones)");
  command.add_option("--data", options->infer.data,
                     "flow of the config to predict instead of files, in the order of its data");
  command
      .add_option("--average", options->average,
                  "more checkpoints, such as those of other folds: write the mean of all predictions; must "
                  "be the last option")
      ->type_name("MODEL ...");
  command
      .add_option("--augment", options->augment,
                  "flip: average the predictions of each image and of the image flipped left to right")
      ->check(CLI::IsMember({"flip"}));
}

void add_infer_options(CLI::App& command, Action& action) {
  auto options = std::make_shared<InferCommandOptions>();
  add_model_arguments(command, options->model);
  command.add_option(
      "files", options->files,
      "images, folders of images, @LIST (one path per line), or - (a list on stdin); CSV, .npz, .h5 "
      "or SVMLight files for a model that takes numbers, or - (rows on stdin, answered as they come)");
  command
      .add_option("--format", options->format,
                  "output format (default: csv or hdf5 if --output ends in .csv, .h5 or .hdf5, else jsonl); "
                  "hdf5: a dataset [samples, ...] for each output, and the strings files, errors, labels")
      ->check(CLI::IsMember({"jsonl", "csv", "hdf5"}));
  command
      .add_option(
          "--columns", options->infer.columns,
          "columns of CSV, each NAME or HEADER=NAME: a column of the input table, prediction, score, "
          "probability.CLASS, an output, true (the true value), file or index; the target column of the "
          "model is the prediction: --columns PassengerId,Survived or --columns id,target=prediction")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--output", options->infer.output, "file (default: stdout)")->check(not_empty());
  command
      .add_option("--top-k", options->infer.top_k,
                  "number of best classes to write, for outputs of a Softmax")
      ->capture_default_str()
      ->check(count_from(1));
  command.add_option("--labels", options->infer.labels,
                     "file of class names, one per line (default: those of the checkpoint)");
  command
      .add_option("--threshold", options->infer.threshold,
                  "minimum probability of a written label, for sets of labels; for two classes: of the "
                  "second class (eval --choose-threshold finds one); for one-class masks: of a masked pixel")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  command
      .add_option("--images", options->infer.images,
                  "write outputs that are images, or classes of pixels, as PNG to this folder (default: "
                  "write their values)")
      ->check(not_empty());
  command.add_flag("--overlays", options->infer.overlays,
                   "with --images, also write each image with its mask in colors over it; a Sigmoid of one "
                   "channel becomes a mask by --threshold");
  command.add_flag("--contours", options->infer.contours,
                   "with --images, also write the outlines of the areas of each mask as JSON; a Sigmoid "
                   "becomes a mask as for --overlays");
  add_sample_options(command, options);
  command.add_option("--batch", options->infer.batch, "samples per batch")
      ->capture_default_str()
      ->check(count_from(1));
  command.add_flag("--skip-bad", options->skip_bad, "files and rows that cannot be read are not an error");
  command.callback([options, &action] { action = [options] { return infer(*options); }; });
}

const Subcommand kInferCommand("infer", "Run a trained model on images, or on rows of tables",
                               add_infer_options);

}  // namespace
}  // namespace tpack
