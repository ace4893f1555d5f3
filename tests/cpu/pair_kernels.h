#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cpu/library.h"
#include "cpu/products/pair_products.h"
#include "cpu/team.h"
#include "graph/builder.h"

namespace tpack::cpu {

/// A fixture whose tests need the instructions of pair_products.h.
template <class Test>
class WithPairs : public Test {
 protected:
  void SetUp() override {
    if (!simd::has_pair_products()) GTEST_SKIP() << "this CPU has no AVX512-BF16";
  }
};

/// Nodes of one op, and runs of their kernels.
class PairKernels {
 public:
  Symbol input(DType type, const Shape& shape) {
    return b_.input("x" + std::to_string(graph_.size()), {type, shape});
  }
  template <class T, class... Args>
  const Node& emit(const Args&... args) {
    return b_.emit<T>(args...);
  }

  /// Inputs in plain layout and the types of the node; the output as doubles.
  Tensor run(const Node& node, const std::vector<Tensor>& inputs, const PreparedKernel& kernel) {
    Team team(3);
    std::vector<std::vector<std::byte>> memory;
    std::vector<std::byte*> in;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Tensor x = inputs[i].cast(node.inputs[i].dtype());
      memory.emplace_back(kernel.in[i].bytes());
      in.push_back(memory.back().data());
      reorder(make_format(x.spec(), Layout::kPlain), x.raw(), kernel.in[i], in.back());
    }
    // What is in the memory before does not matter.
    std::vector<std::byte> scratch(kernel.scratch_bytes, std::byte{0xFF});
    std::vector<std::byte> result(kernel.out[0].bytes(), std::byte{0xFF});
    std::byte* const out[] = {result.data()};
    kernel.kernel->run({in, out, scratch.data(), nullptr, &team});
    Tensor y(node.outputs[0]);
    reorder(kernel.out[0], result.data(), make_format(y.spec(), Layout::kPlain), y.raw());
    return y.cast(DType::kFloat64);
  }

  const KernelLibrary& library() const { return *library_; }

 private:
  void reorder(const Format& from, std::byte* x, const Format& to, std::byte* y) const {
    uint64_t scratch_bytes = 0;
    const auto kernel = library_->reorder(from, to, 1, scratch_bytes);
    std::vector<std::byte> scratch(scratch_bytes);
    std::byte* const in[] = {x};
    std::byte* const out[] = {y};
    Team team(1);
    kernel->run({in, out, scratch.data(), nullptr, &team});
  }

  Graph graph_;
  VariableTable table_;
  Builder b_{graph_, table_, {}};
  std::unique_ptr<KernelLibrary> library_ = make_library();
};

}  // namespace tpack::cpu
