#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/device.h"
#include "backend/engine/kernel.h"
#include "backend/plan.h"
#include "backend/variable_store.h"
#include "graph/graph.h"

namespace tpack {

/// A block of memory that kernels read and write.
struct Value {
  enum class Place : uint8_t {
    kArena,     // planned by lifetime
    kVariable,  // in the store, under `name`
    kInput,     // given by the caller at each run
    kFetch,     // belongs to the executable: fetched
    kConstant   // the same: computed from variables alone, kept between runs
  };
  Place place = Place::kArena;
  Format format;
  std::string name;    // of the variable
  int index = 0;       // of the input, fetch or constant
  int same_as = -1;    // the value in which the memory of this one is, -1 for its own
  uint64_t begin = 0;  // bytes of the owner's memory before this value
};

/// One kernel with its inputs and outputs, by value number.
struct Step {
  std::unique_ptr<Kernel> kernel;
  std::vector<int> in;
  std::vector<int> out;
  uint64_t scratch_bytes = 0;
  std::vector<std::pair<int, int>> in_place;
  std::string path;
  std::string kind;
  double flops = 0;
  bool is_stateful = false;  // see Op::stateful
  bool is_constant = false;  // of a program that keeps constants: does not depend on inputs
};

struct LoweredProgram {
  std::vector<Value> values;
  std::vector<Step> steps;
  std::vector<TensorSpec> fetches;
  std::vector<NodeTypes> types;  // CompileReport::types
  int inputs = 0;
  int reorders = 0;

  /// The value that owns the memory of `value`.
  int owner(int value) const;
};

/// Turns a graph whose nodes all have a choice in `section` into kernels. Reorders are inserted where formats
/// differ; results that become variables or are fetched are written directly to their place if that is safe.
/// `store` determines which variables share memory. `keep_constants`: what depends on variables alone, such
/// as packed weights, is kept between runs, if the program changes no variable.
LoweredProgram lower(const Graph& graph, const PlanSection& section, const VariableStore& store,
                     const KernelLibrary& library, bool keep_constants = false);

}  // namespace tpack
