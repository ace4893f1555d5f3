#include "cli/resume_command.h"

#include <algorithm>
#include <cctype>

namespace tpack {
namespace {

/// The word unchanged if a shell takes it literally, else in single quotes.
std::string shell_word(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_-./=:,+@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::string resume_command(const std::string& program, const TrainOptions& options, StartedRanks ranks) {
  const bool by_mpirun = ranks.count > 1 && !ranks.by_procs;
  std::string text = by_mpirun ? "mpirun -n " + std::to_string(ranks.count) + " " : "";
  text += shell_word(program) + " train " + shell_word(options.config);
  if (ranks.by_procs) text += " --procs " + std::to_string(ranks.count);
  if (!options.log_dir.empty()) text += " --log-dir " + shell_word(options.log_dir);
  if (options.until_epoch) text += " --until-epoch " + std::to_string(*options.until_epoch);
  for (const std::string& change : options.overrides) text += " --set " + shell_word(change);
  return text + " --resume auto";
}

}  // namespace tpack
