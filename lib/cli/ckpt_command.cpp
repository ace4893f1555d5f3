#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/text_table.h"
#include "core/error.h"
#include "core/text.h"
#include "monitor/monitors.h"

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
  if (as_json) {
    std::cout << json.dump(1) << "\n";
  } else {
    std::cout << "step " << content.step << ", epoch " << content.epoch << "\n\n" << table.str();
  }
  return 0;
}

/// Checks every file; the code of the last failure, 0 where all are whole.
int verify(const std::vector<std::string>& files) {
  int code = 0;
  for (const std::string& file : files) {
    const int one = guarded([&] {
      verify_checkpoint(file);
      std::cout << file << ": whole\n";
      return 0;
    });
    if (one != 0) code = one;
  }
  return code;
}

std::string difference(const Tensor& a, const Tensor& b) {
  if (!(a.spec() == b.spec())) return a.spec().str() + " and " + b.spec().str();
  if (bit_equal(a, b)) return "";
  return is_float(a.dtype()) ? "largest difference " + shortest(max_difference(a, b)) : "values differ";
}

template <class T, class Compare>
void compare(const std::map<std::string, T>& a, const std::map<std::string, T>& b, TextTable& table,
             int& count, Compare&& difference_of) {
  for (const auto& [name, value] : a) {
    const auto other = b.find(name);
    const std::string text = other == b.end() ? "only in the first" : difference_of(value, other->second);
    if (text.empty()) continue;
    table.add({name, text});
    ++count;
  }
  for (const auto& [name, value] : b) {
    if (a.contains(name)) continue;
    table.add({name, "only in the second"});
    ++count;
  }
}

/// Takes the history of scalars out of the texts: by name, without what depends on the clock.
std::map<std::string, std::string> take_history(CheckpointContent& content, const std::string& path) {
  std::map<std::string, std::string> histories;
  const auto found = content.texts.find(kHistoryText);
  if (found == content.texts.end()) return histories;
  try {
    const nlohmann::json all = nlohmann::json::parse(found->second);
    for (const auto& [name, values] : all.items()) {
      if (!depends_on_clock(name)) histories["statistic " + name] = values.dump();
    }
  } catch (const nlohmann::json::exception& error) {
    throw CheckpointError(path, std::string("'") + kHistoryText + "' is no history: " + error.what());
  }
  content.texts.erase(found);
  return histories;
}

/// Exit code 0 where the contents are bit-equal, 1 otherwise, as diff has it. Statistics that depend on the
/// clock are left out.
int diff(const std::string& first, const std::string& second) {
  CheckpointContent a = load_checkpoint(first);
  CheckpointContent b = load_checkpoint(second);
  TextTable table({"entry", "difference"});
  int count = 0;
  if (a.step != b.step) {
    table.add({"step", std::to_string(a.step) + " and " + std::to_string(b.step)});
    ++count;
  }
  compare(a.tensors, b.tensors, table, count, difference);
  compare(take_history(a, first), take_history(b, second), table, count,
          [](const std::string& x, const std::string& y) { return x == y ? "" : "values differ"; });
  compare(a.texts, b.texts, table, count,
          [](const std::string& x, const std::string& y) { return x == y ? "" : "texts differ"; });
  std::cout << (count == 0 ? "the contents are bit-equal\n" : table.str());
  return count == 0 ? 0 : 1;
}

}  // namespace

void add_ckpt_command(CLI::App& program, Action& action) {
  CLI::App* ckpt = program.add_subcommand("ckpt", "Look at checkpoints");
  ckpt->require_subcommand(1);
  struct Options {
    std::vector<std::string> files;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* inspect_command = ckpt->add_subcommand("inspect", "List what a checkpoint holds");
  inspect_command->add_option("file", options->files, "checkpoint")->required()->expected(1);
  inspect_command->add_flag("--json", options->json, "as JSON");
  inspect_command->callback(
      [options, &action] { action = [options] { return inspect(options->files[0], options->json); }; });
  CLI::App* verify_command = ckpt->add_subcommand("verify", "Check that checkpoints are whole");
  verify_command->add_option("files", options->files, "checkpoints")->required();
  verify_command->callback([options, &action] { action = [options] { return verify(options->files); }; });
  CLI::App* diff_command = ckpt->add_subcommand(
      "diff", "Compare two checkpoints, but for statistics of time; exit code 1 where they differ");
  diff_command->add_option("files", options->files, "checkpoints")->required()->expected(2);
  diff_command->callback(
      [options, &action] { action = [options] { return diff(options->files[0], options->files[1]); }; });
}

}  // namespace tpack
