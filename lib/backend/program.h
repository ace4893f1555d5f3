#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "backend/device.h"
#include "backend/plan.h"

namespace tpack {

std::string to_text(const Signature& signature);
Signature signature_of(std::span<const Tensor> inputs);
/// The name of a program's section in a plan for a signature: "backward float32 [8, 3], int32 [8]".
std::string section_name(const std::string& program, const Signature& signature);

/// A compiled program with its name ("backward", "update"; of an update with a name "d/backward"), for tools.
struct NamedExecutable {
  std::string name;
  Executable* executable = nullptr;
};

/// A computation on one device, compiled for each input signature: full batches, the remainder at the end of
/// a pass, other image sizes. For a signature that was not compiled in advance (except the first one), fixed
/// rules choose the kernels, so the choice does not depend on the process: an interrupted run continues with
/// the same bits, and the plan does not contain it. The most recently used of these executables are kept.
/// Threads: runs one at a time, the device's; others may `prepare` meanwhile.
class Program {
 public:
  static constexpr size_t kMaxByRules = 256;
  /// Builds the graph for a signature. The fetches must have the same names each time.
  using Build = std::function<Graph(const Signature& signature)>;

  /// Choices are looked up in `plan` under their section_name; those of the first signature, and of
  /// signatures compiled in advance, are added to it. Programs of several devices that share a plan (and what
  /// their graphs are built from) also share `compiling`: they compile one after the other. `devices`: as
  /// many times the threads of the device compute its runs (Device::assist).
  Program(std::string name, Device& device, Plan& plan, Build build,
          std::shared_ptr<std::mutex> compiling = nullptr, size_t devices = 1);

  /// Compiles for a signature if necessary.
  Executable& compile(const Signature& signature, Choosing choosing = Choosing::kMeasured);
  /// Compiles as `run` would for these inputs, if necessary.
  void prepare(std::span<const Tensor> inputs) { ready(inputs); }
  /// Runs once; its fetches are valid until the next run. Does not allocate if the signature is the same as
  /// last time.
  Executable& run(std::span<const Tensor> inputs, const RunInfo& info);
  /// Sets the watch for all its executables (Executable::watch).
  void watch(AssignmentWatch watch);
  /// Index of a fetch in its executables. Errors: InternalError for an unknown name or before the first
  /// compile.
  size_t fetch_index(const std::string& name) const;

 private:
  struct Compiled {
    Signature signature;
    std::unique_ptr<Executable> executable;
    bool is_kept = true;
    uint64_t used = 0;  // when, in runs of the program
  };

  std::unique_ptr<Executable> compile_with_plan(const Graph& graph, const std::string& section,
                                                Choosing choosing);
  Executable* find(const Signature& signature);
  Executable& compile(const Signature& signature, Choosing choosing, bool is_planned);
  Executable& ready(std::span<const Tensor> inputs);
  int pieces() const;
  bool has_met_one() const;
  void drop_least_used();

  std::string name_;
  Device& device_;
  Plan& plan_;
  Build build_;
  std::shared_ptr<std::mutex> compiling_;
  size_t devices_;
  std::mutex mutex_;  // of what follows
  std::vector<Compiled> compiled_;
  size_t last_ = 0;
  uint64_t runs_ = 0;
  std::vector<std::string> fetch_names_;
  std::unique_ptr<const AssignmentWatch> watch_;
};

}  // namespace tpack
