#include <filesystem>
#include <iostream>
#include <memory>
#include <set>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint.h"
#include "checkpoint/derived.h"
#include "checkpoint/layout.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "draw/text_table.h"
#include "graph/variables.h"
#include "learner/inference_model.h"
#include "learner/merged_adapters.h"
#include "learner/stored_data.h"
#include "reports/checkpoint_diff.h"
#include "run/config_changes.h"
#include "system/file_kind.h"
#include "system/input_file.h"
#include "system/log.h"
#include "weights/import_weights.h"
#include "weights/loadable.h"
#include "weights/prove.h"
#include "weights/write_weights.h"

namespace tpack {
namespace {

int inspect_checkpoint(const std::string& path, bool as_json) {
  const CheckpointContent content = load_checkpoint(path);
  TextTable table({"entry", "value", "bytes"});
  nlohmann::ordered_json json = {{"step", content.step}, {"epoch", content.epoch}};
  json["tensors"] = nlohmann::ordered_json::array();
  json["texts"] = nlohmann::ordered_json::array();
  for (const auto& [name, value] : content.tensors) {
    table.add({name, value.spec().str(), with_thousands(static_cast<int64_t>(value.bytes()))});
    json["tensors"].push_back({{"name", name}, {"spec", value.spec().str()}, {"bytes", value.bytes()}});
  }
  for (const auto& [name, text] : content.texts) {
    table.add({name, "text", with_thousands(static_cast<int64_t>(text.size()))});
    json["texts"].push_back({{"name", name}, {"bytes", text.size()}});
  }
  json["fitted"] = nlohmann::ordered_json::array();
  TextTable fitted({"learned from data.train", "columns", "classes"});
  const FittedData fit = stored_fit(content, path).value_or(FittedData());
  for (const FittedComponent& one : fit.components()) {
    fitted.add({one.component, join_first(one.columns), join_first(one.classes)});
    json["fitted"].push_back({{"source", one.source},
                              {"component", one.component},
                              {"columns", one.columns},
                              {"classes", one.classes}});
  }
  for (const auto& [name, state] : fit.maps()) {
    fitted.add({name, "", ""});
    json["fitted"].push_back({{"map", name}, {"state", nlohmann::ordered_json::parse(state.to_json())}});
  }
  ChangeHistory changes;
  if (const auto text = content.texts.find(layout::kChanges); text != content.texts.end())
    changes = ChangeHistory(text->second, path);
  json["config_changes"] = nlohmann::ordered_json::parse(changes.to_json());
  if (as_json) {
    std::cout << json.dump(1) << "\n";
    return 0;
  }
  std::cout << "step " << content.step << ", epoch " << content.epoch << "\n";
  if (!json["fitted"].empty()) std::cout << "\n" << fitted.str();
  std::cout << "\n" << table.str();
  if (!changes.empty())
    std::cout << "\nchanged when the run was resumed\n"
              << printable_lines(join(changes.lines(), "\n")) << "\n";
  return 0;
}

/// A file of weights of another program.
int inspect_weights(const std::string& path, bool as_json) {
  const WeightFile file = open_weight_file(path);
  TextTable table({"tensor", "stored as", "shape", "numbers"});
  nlohmann::ordered_json json = {{"format", file.format}};
  json["tensors"] = nlohmann::ordered_json::array();
  json["others"] = nlohmann::ordered_json::array();
  int64_t numbers = 0;
  for (const FileWeight& weight : file.weights) {
    numbers += weight.spec.shape.elements();
    table.add({printable(weight.name), weight.stored, weight.spec.shape.str(),
               with_thousands(weight.spec.shape.elements())});
    json["tensors"].push_back(
        {{"name", weight.name}, {"type", weight.stored}, {"shape", weight.spec.shape.sizes()}});
  }
  for (const auto& [name, what] : file.others) json["others"].push_back({{"name", name}, {"what", what}});
  if (as_json) {
    std::cout << json.dump(1) << "\n";
    return 0;
  }
  std::cout << file.format << ": " << file.weights.size() << " tensors, " << with_thousands(numbers)
            << " numbers\n\n"
            << table.str();
  if (file.others.empty()) return 0;
  TextTable others({"not a tensor", "what"});
  for (const auto& [name, what] : file.others) others.add({printable(name), printable(what)});
  std::cout << "\n" << others.str();
  return 0;
}

bool is_checkpoint(const std::string& path) {
  return kind_of_content(first_bytes(path, 512)).form == FileKind::Form::kCheckpoint ||
         !std::filesystem::exists(path);
}

int inspect(const std::string& path, bool as_json) {
  return is_checkpoint(path) ? inspect_checkpoint(path, as_json) : inspect_weights(path, as_json);
}

/// Checks every file; the code of the last failure, 0 if all are whole.
int verify(const std::vector<std::string>& files) {
  int code = 0;
  for (const std::string& file : files) {
    const int one = guarded([&] {
      verify_checkpoint(file);
      std::cout << file << ": intact\n";
      return 0;
    });
    if (one != 0) code = one;
  }
  return code;
}

/// Of two checkpoints, or of the tensors of two files of weights.
std::vector<CheckpointDifference> differences(const std::string& first, const std::string& second) {
  if (is_checkpoint(first) && is_checkpoint(second))
    return compare_checkpoints(load_checkpoint(first), first, load_checkpoint(second), second);
  return compare_weights(open_weight_file(first), open_weight_file(second));
}

/// Exit code 0 if the contents are bit-equal, else 1, like diff.
int diff(const std::string& first, const std::string& second) {
  const auto all = differences(first, second);
  TextTable table({"entry", "difference"});
  for (const CheckpointDifference& one : all) table.add({one.entry, one.text});
  std::cout << (all.empty() ? "the contents are identical\n" : table.str());
  return all.empty() ? 0 : 1;
}

int convert(const std::string& from, const std::string& to) {
  const WeightFile file = open_weight_file(from);
  write_weights(file, to);
  std::cout << to << ": " << file.weights.size() << " tensors\n";
  return 0;
}

/// Errors: ConfigError if it exists.
void write_derived(CheckpointContent content, const std::string& out) {
  require_absent(out);
  save_checkpoint(out, std::move(content));
  std::cout << out << ": written\n";
}

/// Leaves only the variables that match one of the patterns. Errors: ConfigError for a pattern without one.
void keep_only(const std::vector<std::string>& patterns, CheckpointContent& content) {
  std::vector<std::string> names;
  for (const auto& [name, value] : content.tensors) names.push_back(name.substr(layout::kModel.size()));
  std::set<std::string> kept;
  for (const std::string& pattern : patterns) {
    bool matches = false;
    for (const std::string& name : names) {
      if (!is_for_variable(pattern, name)) continue;
      kept.insert(layout::kModel + name);
      matches = true;
    }
    if (!matches) throw ConfigError("--only: " + no_match("variable", pattern, names));
  }
  std::erase_if(content.tensors, [&](const auto& one) { return !kept.contains(one.first); });
}

int strip(const std::string& from, const std::string& out, const std::vector<std::string>& only) {
  CheckpointContent content = for_predictions(load_checkpoint(from));
  if (!only.empty()) keep_only(only, content);
  write_derived(std::move(content), out);
  return 0;
}

/// Removes a new checkpoint that does not pass a check. Errors: those of the check.
template <class Check>
void remove_unless(const std::string& out, const Check& check) {
  try {
    check();
  } catch (...) {
    std::filesystem::remove(out);
    throw;
  }
}

int merge_adapters(const std::string& from, const std::string& out, bool allow_plugins) {
  write_derived(merged_adapters(load_checkpoint(from), from), out);
  remove_unless(out, [&] { InferenceModel::load(out, {.allow_plugins = allow_plugins}); });
  return 0;
}

int sign(const std::string& from, const std::string& out) {
  write_derived(load_edited_checkpoint(from), out);
  return 0;
}

int average(const std::vector<std::string>& files, const std::string& out) {
  write_derived(average_of(files), out);
  return 0;
}

/// Errors: CheckpointError for the first layer that differs.
void compare_with(const std::string& reference, const ImportJob& job, const std::string& map,
                  const std::string& out) {
  const WeightMap names = weight_map_called(map);
  const Proof proof = prove(out, reference, [&](const std::string& name) {
    return renamed_by(job.rules.rename, names.path_here(name));
  });
  std::cout << proof.str() << "\n";
  if (const LayerProof* const first = proof.first_difference())
    throw CheckpointError(job.file, "the model does not compute what " + reference + " says, from '" +
                                        first->layer + "' on; nothing was written");
}

int import(const ImportJob& job, const std::string& out, const std::string& reference) {
  const WeightsReport report = import_weights(job, out);
  std::cout << "names of layers: " << report.map << "\n" << report.weights.str(job.file) << "\n";
  for (const std::string& rule : report.weights.idle) log::warning(rule);
  if (!reference.empty()) remove_unless(out, [&] { compare_with(reference, job, report.map, out); });
  std::cout << (out.empty() ? "nothing was written (--dry-run)" : out + ": written") << "\n";
  return 0;
}

void add_import(CLI::App& command, Action& action) {
  struct Options {
    ImportJob job;
    std::string out;
    std::string reference;
    std::vector<std::string> renames;
    bool skips = false;
    bool is_dry = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* import_command = command.add_subcommand(
      "import", "Write a checkpoint with the model of a config and the weights of a file of another program");
  import_command
      ->add_option("file", options->job.file,
                   "safetensors, .npz, .pt or .pth of PyTorch, .keras or .h5 of Keras, .onnx, .caffemodel, "
                   "or a checkpoint")
      ->required();
  import_command->add_option("out", options->out, "checkpoint to write (.h5)")
      ->required()
      ->check(not_empty());
  import_command->add_option("--config", options->job.config, "config of the model")->required();
  import_command->add_option("--set", options->job.overrides,
                             "change a value of the config; may be repeated");
  import_command->add_option("--map", options->job.naming.map, "as `map` of `init`");
  import_command->add_option("--part", options->job.naming.part, "as `part` of `init`");
  import_command->add_option("--rename", options->renames,
                             "PATTERN=NAME, as `rename` of `init`; may be repeated");
  import_command->add_flag("--skip-mismatched", options->skips,
                           "keep the initial values of variables that have another shape in the file");
  import_command
      ->add_option(
          "--prove", options->reference,
          "compare the outputs of layers with those in this .npz, which also has the inputs; where one "
          "differs, nothing is written")
      ->excludes(import_command->add_flag("--dry-run", options->is_dry, "write nothing, only report"));
  import_command->callback([options, &action] {
    action = [options] {
      for (const std::string& rule : options->renames) {
        const size_t at = rule.find('=');
        if (at == std::string::npos) throw ConfigError("--rename " + rule + ": expected PATTERN=NAME");
        options->job.rules.rename.emplace_back(rule.substr(0, at), rule.substr(at + 1));
      }
      if (options->skips) options->job.rules.on_mismatch = OnMismatch::kSkip;
      return import(options->job, options->is_dry ? "" : options->out, options->reference);
    };
  });
}

/// A command that reads one file and writes another.
CLI::App& add_from_to(CLI::App& command, const std::string& name, const std::string& summary,
                      std::vector<std::string>& files) {
  CLI::App* const added = command.add_subcommand(name, summary);
  added->add_option("files", files, "file to read, and file to write")->required()->expected(2);
  return *added;
}

/// Commands that write a checkpoint from others.
void add_derived(CLI::App& command, Action& action) {
  struct Options {
    std::vector<std::string> files;
    std::vector<std::string> only;
    std::string out;
    bool allow_plugins = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App& strip_command =
      add_from_to(command, "strip",
                  "Write a checkpoint with only what predictions need, without the state of the training",
                  options->files);
  strip_command
      .add_option("--only", options->only,
                  "keep only these variables: a regular expression for whole names (.*/adapter/.*), or a "
                  "name with everything below it; may be repeated")
      ->allow_extra_args(false);
  strip_command.callback([options, &action] {
    action = [options] { return strip(options->files[0], options->files[1], options->only); };
  });
  CLI::App& merge_command = add_from_to(
      command, "merge-adapters",
      "Write a checkpoint whose low-rank adapters are added to the weights, for predictions", options->files);
  merge_command.add_flag("--allow-plugins", options->allow_plugins, "load the plugins of its config");
  merge_command.callback([options, &action] {
    action = [options] {
      return merge_adapters(options->files[0], options->files[1], options->allow_plugins);
    };
  });
  CLI::App& sign_command =
      add_from_to(command, "sign",
                  "Write a checkpoint of one that another program changed, such as h5py, with new digests",
                  options->files);
  sign_command.callback(
      [options, &action] { action = [options] { return sign(options->files[0], options->files[1]); }; });
  CLI::App* average_command = command.add_subcommand(
      "average", "Write the mean of the models of several checkpoints of one run, for predictions");
  average_command->add_option("files", options->files, "checkpoints")->required();
  average_command->add_option("--out", options->out, "checkpoint to write")->required()->check(not_empty());
  average_command->callback(
      [options, &action] { action = [options] { return average(options->files, options->out); }; });
}

void add_ckpt_options(CLI::App& command, Action& action) {
  command.require_subcommand(1);
  struct Options {
    std::vector<std::string> files;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* inspect_command =
      command.add_subcommand("inspect", "List the contents of a checkpoint, or of a file of weights");
  inspect_command
      ->add_option(
          "file", options->files,
          "checkpoint, safetensors, .npz, .pt or .pth of PyTorch, .keras or .h5 of Keras, .onnx, .caffemodel")
      ->required()
      ->expected(1);
  add_json_flag(*inspect_command, options->json);
  inspect_command->callback(
      [options, &action] { action = [options] { return inspect(options->files[0], options->json); }; });
  CLI::App* verify_command = command.add_subcommand("verify", "Check that checkpoints are intact");
  verify_command->add_option("files", options->files, "checkpoints")->required();
  verify_command->callback([options, &action] { action = [options] { return verify(options->files); }; });
  CLI::App* diff_command = command.add_subcommand("diff",
                                                  "Compare two checkpoints, except for timing statistics, or "
                                                  "the tensors of files of weights; exit code 1 "
                                                  "if they differ");
  diff_command->add_option("files", options->files, "checkpoints, or files of weights")
      ->required()
      ->expected(2);
  diff_command->callback(
      [options, &action] { action = [options] { return diff(options->files[0], options->files[1]); }; });
  CLI::App& convert_command = add_from_to(
      command, "convert",
      "Write the tensors of a checkpoint or a file of weights as .safetensors, .npz or .h5", options->files);
  convert_command.callback(
      [options, &action] { action = [options] { return convert(options->files[0], options->files[1]); }; });
  add_derived(command, action);
  add_import(command, action);
}

const Subcommand kCkptCommand("ckpt", "Inspect, compare, convert and import checkpoints", add_ckpt_options);

}  // namespace
}  // namespace tpack
