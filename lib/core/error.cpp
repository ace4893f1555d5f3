#include "core/error.h"

#include <algorithm>
#include <utility>

namespace tpack {
namespace {

std::string join_lines(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) {
    if (!text.empty()) text += '\n';
    text += problem.str();
  }
  return text;
}

}  // namespace

std::string Problem::str() const { return where.known() ? where.str() + ": " + text : text; }

ConfigError::ConfigError(Position where, const std::string& text)
    : ConfigError(std::vector<Problem>{Problem{std::move(where), text}}) {}

ConfigError::ConfigError(std::vector<Problem> problems)
    : Error(ErrorKind::kConfig, join_lines(problems)), problems_(std::move(problems)) {}

void Diagnostics::add(Position where, std::string text) {
  ++count_;
  Problem problem{std::move(where), std::move(text)};
  // The same mistake may be found several times (an included file used twice); report it once.
  if (std::find(problems_.begin(), problems_.end(), problem) != problems_.end()) return;
  if (problems_.size() < kMaxKept) problems_.push_back(std::move(problem));
}

void Diagnostics::add(const ConfigError& error, const Position& fallback) {
  for (const Problem& problem : error.problems()) {
    add(problem.where.known() ? problem.where : fallback, problem.text);
  }
}

void Diagnostics::throw_if_any() const {
  if (problems_.empty()) return;
  std::vector<Problem> sorted = problems_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Problem& a, const Problem& b) { return a.where < b.where; });
  if (sorted.size() > kMaxProblems) {
    const size_t more = sorted.size() - kMaxProblems;
    sorted.resize(kMaxProblems);
    sorted.push_back({{}, "... and " + std::to_string(more) + " more"});
  }
  throw ConfigError(std::move(sorted));
}

void assertion_failed(const char* condition, const char* file, int line, const std::string& text) {
  throw InternalError(std::string(file) + ":" + std::to_string(line) + ": " + text + " (" + condition + ")");
}

}  // namespace tpack
