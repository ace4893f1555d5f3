#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/plan.h"
#include "backend/run_info.h"
#include "backend/variable_store.h"
#include "core/error.h"
#include "core/field.h"
#include "graph/graph.h"
#include "tensor/tensor.h"

namespace tpack {

/// The time of an executable by node kind; filled while profiling is on.
struct NodeTime {
  std::string path;
  std::string kind;  // "Convolution", "Reorder", "Pointwise", ...
  int runs = 0;
  double seconds = 0;  // sum over the runs
  double flops = 0;    // of one run
  double bytes = 0;    // of its operands and results, as stored
  // In the last profiled run, see monotonic_s().
  double began_s = 0;
  double last_s = 0;
};

/// The types in which one kernel of a program writes its results and, if it is a product, reads its two
/// factors.
struct NodeTypes {
  std::string path;
  std::vector<TensorSpec> results;
  std::vector<DType> factors;  // empty if it is not a product
};

/// Predictions and choices of the compilation.
struct CompileReport {
  uint64_t arena_bytes = 0;     // of this executable; the device holds one arena of the largest
  uint64_t constant_bytes = 0;  // fetched values, literals, packed copies
  int kernels = 0;
  int reorders = 0;
  double flops = 0;                   // of one run
  std::vector<NodeTypes> types = {};  // of its kernels, without reorders
};

/// The progress of a run: `reached(i)` is called on its thread after all variables of the sets 0 to i are
/// assigned.
struct AssignmentWatch {
  std::vector<std::vector<std::string>> sets;
  std::function<void(size_t set)> reached;
};

/// A program compiled for one input signature: a flat list of prepared kernels over one store and one arena.
/// Inputs and results are on the host; a device with separate memory copies them. Threads: one run of a
/// device's executables at a time, on any thread.
class Executable {
 public:
  virtual ~Executable() = default;
  /// Runs once. `inputs`, on the host, in the order of the graph's Input nodes. Reads use the current
  /// variables. A device with separate memory may still work when it returns: what then reads a variable or
  /// a fetched value waits. Does not allocate.
  virtual void run(std::span<const Tensor> inputs, const RunInfo& info) = 0;
  /// Value of fetch i after the last run, on the host and in plain layout; overwritten by the next run of
  /// this executable.
  virtual const Tensor& fetched(size_t i) const = 0;
  virtual const CompileReport& report() const = 0;
  /// Sets the watch for the following runs, which it must outlive. Null removes it. A device without progress
  /// information calls it at the end of a run.
  virtual void watch(const AssignmentWatch* watch) = 0;
  /// Measures the time of each kernel from now on (costs a little).
  virtual void profile(bool on) = 0;
  virtual std::vector<NodeTime> times() const = 0;
};

/// How `compile` makes choices that are not in the plan.
enum class Choosing : uint8_t {
  kMeasured,  // as set when the device was opened (DeviceOptions::Algorithm)
  kByRules    // by fixed rules: always the same, in every process
};

/// The constants of a device.
struct DeviceInfo {
  std::string name;  // KIND:NUMBER
  DType float_type = DType::kFloat32;
  /// The hardware that its choices are for, "GenuineIntel 6/143/8 AVX3_SPR"; empty if there is nothing to
  /// choose.
  std::string hardware = {};
  int threads = 1;  // of a run, including the calling one
  /// In which it stores values between kernels (store_half): on two devices of one precision, different types
  /// are different arithmetic.
  DType stored_type = DType::kFloat32;
};

/// Runs programs: has a store of variables and compiles graphs for it.
class Device {
 public:
  explicit Device(DeviceInfo info) : info_(std::move(info)) {}
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  const std::string& name() const { return info_.name; }
  DType float_type() const { return info_.float_type; }
  const std::string& hardware() const { return info_.hardware; }
  int threads() const { return info_.threads; }
  const DeviceInfo& info() const { return info_; }

  /// Makes the variables of the table, in the device's memory. Once per device, before the first compile.
  virtual void create_variables(const VariableTable& table) = 0;
  /// Alternative: uses variables of `store`, made from the same table, which must outlive it, and makes only
  /// the others. Errors: ConfigError if it cannot use that memory.
  virtual void share_variables(const VariableTable& table, const VariableStore& store, Sharing sharing) {
    (void)table, (void)store, (void)sharing;
    throw ConfigError("device " + name() + " has separate memory and cannot share variables with others");
  }
  virtual bool can_share_variables() const { return false; }
  virtual VariableStore& variables() = 0;
  /// Compiles a graph. Fills a section that is not `chosen` with choices; uses a `chosen` one unchanged.
  /// Errors: PlanError if the section belongs to a different program or is impossible on this machine.
  virtual std::unique_ptr<Executable> compile(const Graph& graph, PlanSection& section,
                                              Choosing choosing = Choosing::kMeasured) = 0;
  /// Bytes of the common working memory of its programs: the need of the largest one compiled so far.
  virtual uint64_t arena_bytes() const = 0;
  /// Lends the calling thread to the runs of another one until that changes `turn` from `old` and notifies
  /// it. A device that has no use for the thread lets it wait.
  virtual void assist(const std::atomic<uint32_t>& turn, uint32_t old) {
    turn.wait(old, std::memory_order_acquire);
  }

 private:
  DeviceInfo info_;
};

/// The timings for the choice of kernels.
enum class Timings : uint8_t {
  kMeasured,  // measures those that are not in the cache, within the budget
  kAll,       // measures all of them, and repeats those disturbed by other processes
  kKnown      // uses only those in the cache
};

/// The arithmetic of products, and the type in which values between kernels are stored. Variables, sums,
/// statistics and costs are float32 in each.
enum class Precision : uint8_t {
  kFp32,
  kBf16,  // factors of products and images in bfloat16 (store_half); without such products, see round_factors
  kFp16   // factors of matrix products are rounded to float16
};
template <>
struct EnumNames<Precision> {
  static constexpr std::array<std::pair<const char*, Precision>, 3> kNames = {
      {{"fp32", Precision::kFp32}, {"bf16", Precision::kBf16}, {"fp16", Precision::kFp16}}};
};
constexpr const char* name_of(Precision precision) {
  return EnumNames<Precision>::kNames[static_cast<size_t>(precision)].first;
}
/// The type of factors: float32, bfloat16 or float16.
constexpr DType factor_type(Precision precision) {
  if (precision == Precision::kFp32) return DType::kFloat32;
  return precision == Precision::kBf16 ? DType::kBFloat16 : DType::kFloat16;
}

/// How a device is opened.
struct DeviceOptions {
  enum class Algorithm : uint8_t {
    kAuto,       // measured if not in the plan, with a cache on disk
    kHeuristic,  // fixed rules, no measuring
    kDirect      // direct convolutions everywhere
  };
  DType float_type = DType::kFloat32;
  Algorithm algorithm = Algorithm::kAuto;
  int threads = 1;
  std::string cache_dir = {};  // for measured choices; empty: no cache
  Timings timings = Timings::kMeasured;
  double timing_s = 4;  // for measuring, of all programs together
  Precision precision = Precision::kFp32;
  bool recompute = false;      // see recompute_sweeps
  uint64_t memory_bytes = 0;   // for variables and activations, 0: no limit
  bool check_kernels = false;  // for tests: after each kernel, check for zeros in padding channels
};

template <>
struct EnumNames<DeviceOptions::Algorithm> {
  static constexpr std::array<std::pair<const char*, DeviceOptions::Algorithm>, 3> kNames = {
      {{"auto", DeviceOptions::Algorithm::kAuto},
       {"heuristic", DeviceOptions::Algorithm::kHeuristic},
       {"direct", DeviceOptions::Algorithm::kDirect}}};
};

std::unique_ptr<Device> make_reference_device(const std::string& name, const DeviceOptions& options);
}  // namespace tpack
