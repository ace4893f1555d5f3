#include "backend/program.h"

#include <algorithm>
#include <limits>

#include "core/text.h"
#include "graph/structural.h"
#include "system/log.h"

namespace tpack {
namespace {

bool fits(const Signature& signature, std::span<const Tensor> inputs) {
  return std::equal(signature.begin(), signature.end(), inputs.begin(), inputs.end(),
                    [](const TensorSpec& spec, const Tensor& tensor) { return spec == tensor.spec(); });
}

Signature specs_of_inputs(const Graph& graph) {
  Signature specs;
  for (const auto& node : graph.nodes())
    if (op_cast<Input>(*node) != nullptr) specs.push_back(node->outputs[0]);
  return specs;
}

}  // namespace

std::string to_text(const Signature& signature) {
  std::vector<std::string> parts;
  for (const TensorSpec& spec : signature) parts.push_back(spec.str());
  return join(parts, ", ");
}

Signature signature_of(std::span<const Tensor> inputs) {
  Signature signature;
  for (const Tensor& tensor : inputs) signature.push_back(tensor.spec());
  return signature;
}

std::string section_name(const std::string& program, const Signature& signature) {
  return program + " " + to_text(signature);
}

Program::Program(std::string name, Device& device, Plan& plan, Build build,
                 std::shared_ptr<std::mutex> compiling, size_t devices)
    : name_(std::move(name)),
      device_(device),
      plan_(plan),
      build_(std::move(build)),
      compiling_(compiling ? std::move(compiling) : std::make_shared<std::mutex>()),
      devices_(devices) {}

Executable& Program::compile(const Signature& signature, Choosing choosing) {
  return compile(signature, choosing, true);
}

Executable* Program::find(const Signature& signature) {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < compiled_.size(); ++i) {
    if (compiled_[i].signature != signature) continue;
    last_ = i;
    compiled_[i].used = ++runs_;
    return compiled_[i].executable.get();
  }
  return nullptr;
}

Executable& Program::compile(const Signature& signature, Choosing choosing, bool is_planned) {
  if (Executable* found = find(signature)) return *found;
  const std::lock_guard compiling(*compiling_);
  if (Executable* found = find(signature)) return *found;  // by another thread meanwhile
  const Graph graph = build_(signature);
  TPACK_ASSERT(specs_of_inputs(graph) == signature,
               "program " + name_ + " has other inputs than its signature, or in another order");
  std::vector<std::string> names;
  for (const Fetch& fetch : graph.fetches()) names.push_back(fetch.name);
  TPACK_ASSERT(fetch_names_.empty() || names == fetch_names_,
               "program " + name_ + " fetches other values for another signature");
  fetch_names_ = std::move(names);
  const std::string section = section_name(name_, signature);
  const bool is_kept = is_planned || plan_.sections.contains(section);
  PlanSection made{.pieces = pieces()};
  auto executable =
      is_kept ? compile_with_plan(graph, section, choosing) : device_.compile(graph, made, choosing);
  const std::lock_guard lock(mutex_);
  if (!is_kept) drop_least_used();
  compiled_.push_back({signature, std::move(executable), is_kept});
  if (watch_) compiled_.back().executable->watch(watch_.get());
  if (plan_.hardware.empty()) plan_.hardware = device_.hardware();
  last_ = compiled_.size() - 1;
  return *compiled_.back().executable;
}

/// Makes room for one more.
void Program::drop_least_used() {
  const auto count = std::ranges::count(compiled_, false, &Compiled::is_kept);
  if (count < static_cast<std::ptrdiff_t>(kMaxByRules)) return;
  compiled_.erase(std::ranges::min_element(compiled_, {}, [](const Compiled& one) {
    return one.is_kept ? std::numeric_limits<uint64_t>::max() : one.used;
  }));
}

int Program::pieces() const {
  const int of_one = plan_.sections.empty() ? device_.threads() : plan_.pieces();
  return std::min(of_one * static_cast<int>(devices_), PlanSection::kMaxPieces);
}

std::unique_ptr<Executable> Program::compile_with_plan(const Graph& graph, const std::string& section,
                                                       Choosing choosing) {
  const auto [found, is_new] = plan_.sections.try_emplace(section, PlanSection{.pieces = pieces()});
  try {
    return device_.compile(graph, found->second, choosing);
  } catch (const PlanError& error) {
    if (plan_.source.empty() || is_new) throw;
    const std::string why = plan_.source + ": section '" + section + "': " + error.what();
    if (!plan_.remedy.empty()) throw PlanError(why + "; " + plan_.remedy);
    log::warning(why + kPlannedAgain);
  }
  found->second = {.pieces = pieces()};
  return device_.compile(graph, found->second, choosing);
}

/// Whether the plan has choices for some signature: then this process, or an earlier one, has compiled the
/// first one.
bool Program::has_met_one() const {
  const std::lock_guard compiling(*compiling_);
  const std::string start = name_ + " ";
  const auto at = plan_.sections.lower_bound(start);
  return at != plan_.sections.end() && at->first.starts_with(start);
}

Executable& Program::ready(std::span<const Tensor> inputs) {
  bool is_first = false;
  {
    const std::lock_guard lock(mutex_);
    if (last_ < compiled_.size() && fits(compiled_[last_].signature, inputs)) {
      compiled_[last_].used = ++runs_;
      return *compiled_[last_].executable;
    }
    is_first = compiled_.empty();
  }
  const Signature signature = signature_of(inputs);
  if (Executable* found = find(signature)) return *found;
  is_first = is_first && !has_met_one();
  return compile(signature, is_first ? Choosing::kMeasured : Choosing::kByRules, is_first);
}

Executable& Program::run(std::span<const Tensor> inputs, const RunInfo& info) {
  Executable& executable = ready(inputs);
  executable.run(inputs, info);
  return executable;
}

void Program::watch(AssignmentWatch watch) {
  auto next = std::make_unique<const AssignmentWatch>(std::move(watch));
  const std::lock_guard lock(mutex_);
  for (Compiled& compiled : compiled_) compiled.executable->watch(next.get());
  watch_ = std::move(next);
}

size_t Program::fetch_index(const std::string& name) const {
  const auto found = std::find(fetch_names_.begin(), fetch_names_.end(), name);
  TPACK_ASSERT(found != fetch_names_.end(), "program " + name_ + " fetches no '" + name + "'");
  return static_cast<size_t>(found - fetch_names_.begin());
}

}  // namespace tpack
