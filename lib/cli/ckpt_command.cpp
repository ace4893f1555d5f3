#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint.h"
#include "checkpoint/layout.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "draw/text_table.h"
#include "learner/stored_data.h"
#include "reports/checkpoint_diff.h"
#include "run/config_changes.h"

namespace tpack {
namespace {

int inspect(const std::string& path, bool as_json) {
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

/// Exit code 0 if the contents are bit-equal, else 1, like diff.
int diff(const std::string& first, const std::string& second) {
  const auto all = compare_checkpoints(load_checkpoint(first), first, load_checkpoint(second), second);
  TextTable table({"entry", "difference"});
  for (const CheckpointDifference& one : all) table.add({one.entry, one.text});
  std::cout << (all.empty() ? "the contents are identical\n" : table.str());
  return all.empty() ? 0 : 1;
}

void add_ckpt_options(CLI::App& command, Action& action) {
  command.require_subcommand(1);
  struct Options {
    std::vector<std::string> files;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* inspect_command = command.add_subcommand("inspect", "List the contents of a checkpoint");
  inspect_command->add_option("file", options->files, "checkpoint")->required()->expected(1);
  add_json_flag(*inspect_command, options->json);
  inspect_command->callback(
      [options, &action] { action = [options] { return inspect(options->files[0], options->json); }; });
  CLI::App* verify_command = command.add_subcommand("verify", "Check that checkpoints are intact");
  verify_command->add_option("files", options->files, "checkpoints")->required();
  verify_command->callback([options, &action] { action = [options] { return verify(options->files); }; });
  CLI::App* diff_command = command.add_subcommand(
      "diff", "Compare two checkpoints, except for timing statistics; exit code 1 if they differ");
  diff_command->add_option("files", options->files, "checkpoints")->required()->expected(2);
  diff_command->callback(
      [options, &action] { action = [options] { return diff(options->files[0], options->files[1]); }; });
}

const Subcommand kCkptCommand("ckpt", "Inspect and compare checkpoints", add_ckpt_options);

}  // namespace
}  // namespace tpack
