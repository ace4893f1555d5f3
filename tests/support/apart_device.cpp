#include "support/apart_device.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <sys/mman.h>

#include "graph/structural.h"

namespace tpack {
namespace {

size_t whole_pages(size_t bytes) {
  constexpr size_t kPage = 4096;
  return (std::max<size_t>(bytes, 1) + kPage - 1) / kPage * kPage;
}

/// From an address that is given out to its bytes.
constexpr size_t kDistance = size_t{1} << 30U;

class ApartExecutable final : public Executable {
 public:
  ApartExecutable(std::unique_ptr<Executable> inside, VariableStore& here, VariableStore& there,
                  const Graph& graph)
      : inside_(std::move(inside)), here_(here), there_(there) {
    for (const auto& node : graph.nodes()) {
      if (const auto* read = op_cast<Read>(*node)) read_.insert(read->params().variable);
    }
    for (const Assignment& assignment : graph.assignments()) assigned_.insert(assignment.variable);
  }
  void run(std::span<const Tensor> inputs, const RunInfo& info) override {
    for (const std::string& name : read_) copy(here_.tensor(name), there_.tensor(name), true);
    inside_->run(inputs, info);
    for (const std::string& name : assigned_) copy(there_.tensor(name), here_.tensor(name), false);
    for (size_t i = 0; watch_ != nullptr && i < watch_->sets.size(); ++i) watch_->reached(i);
  }
  const Tensor& fetched(size_t i) const override { return inside_->fetched(i); }
  const CompileReport& report() const override { return inside_->report(); }
  void watch(const AssignmentWatch* watch) override { watch_ = watch; }
  void profile(bool on) override { inside_->profile(on); }
  std::vector<NodeTime> times() const override { return inside_->times(); }

 private:
  /// What a device does on its own, without the host: it knows where the bytes are.
  static void copy(const Tensor& from, const Tensor& to, bool inwards) {
    const std::byte* source = inwards ? ApartMemory::shadow(from.address()) : from.raw();
    std::byte* target = inwards ? to.raw() : ApartMemory::shadow(to.address());
    std::memcpy(target, source, from.bytes());
  }

  std::unique_ptr<Executable> inside_;
  VariableStore& here_;
  VariableStore& there_;
  std::set<std::string> read_;
  std::set<std::string> assigned_;
  const AssignmentWatch* watch_ = nullptr;
};

class ApartDevice final : public Device {
 public:
  ApartDevice(std::string name, const EngineSettings& settings, int threads)
      : name_(std::move(name)), memory_(name_), inside_(open_device("cpu:0", settings, threads)) {}
  const std::string& name() const override { return name_; }
  DType float_type() const override { return inside_->float_type(); }
  const std::string& hardware() const override { return inside_->hardware(); }
  void create_variables(const VariableTable& table) override {
    variables_ = std::make_unique<VariableStore>(table, memory_);
    inside_->create_variables(table);
  }
  VariableStore& variables() override { return *variables_; }
  std::unique_ptr<Executable> compile(const Graph& graph, PlanSection& section, Choosing choosing) override {
    return std::make_unique<ApartExecutable>(inside_->compile(graph, section, choosing), *variables_,
                                             inside_->variables(), graph);
  }
  uint64_t arena_bytes() const override { return inside_->arena_bytes(); }
  int threads() const override { return inside_->threads(); }

 private:
  std::string name_;
  ApartMemory memory_;
  std::unique_ptr<VariableStore> variables_;
  std::unique_ptr<Device> inside_;
};

}  // namespace

std::byte* ApartMemory::shadow(const std::byte* address) {
  return const_cast<std::byte*>(address) + kDistance;
}

std::shared_ptr<Storage> ApartMemory::allocate_zeros(size_t bytes) {
  const size_t length = kDistance + whole_pages(bytes);
  void* const begin = mmap(nullptr, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) throw ResourceError(name_ + ": not enough memory");
  auto* address = static_cast<std::byte*>(begin);
  if (bytes > kDistance || mprotect(shadow(address), whole_pages(bytes), PROT_READ | PROT_WRITE) != 0) {
    munmap(begin, length);
    throw ResourceError(name_ + ": not enough memory");
  }
  const std::shared_ptr<const void> owner(begin, [length](void* p) { munmap(p, length); });
  return std::make_shared<Storage>(address, bytes, owner, *this);
}

void ApartMemory::read(std::byte* to, const std::byte* from, size_t bytes) {
  std::memcpy(to, shadow(from), bytes);
}

void ApartMemory::write(std::byte* to, const std::byte* from, size_t bytes) {
  std::memcpy(shadow(to), from, bytes);
}

void ApartMemory::copy(std::byte* to, const std::byte* from, size_t bytes) {
  std::memcpy(shadow(to), shadow(from), bytes);
}

std::unique_ptr<Device> make_apart_device(const std::string& name, const EngineSettings& settings,
                                          int threads) {
  return std::make_unique<ApartDevice>(name, settings, threads);
}

}  // namespace tpack
