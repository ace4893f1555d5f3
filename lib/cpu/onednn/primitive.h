#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "cpu/kernel.h"
#include "cpu/onednn/onednn_format.h"

namespace tpack::cpu {

/// A oneDNN primitive with the argument numbers of its operands. Memory objects are created once; a run only
/// sets their pointers.
class PrimitiveKernel final : public Kernel {
 public:
  struct Operand {
    int argument = 0;  // DNNL_ARG_...
    dnnl::memory::desc md;
  };
  PrimitiveKernel(dnnl::primitive primitive, const std::vector<Operand>& in, const std::vector<Operand>& out,
                  const dnnl::memory::desc& scratchpad);
  void run(const KernelArgs& args) override;

 private:
  dnnl::primitive primitive_;
  dnnl::stream stream_;
  std::vector<dnnl_exec_arg_t> arguments_;  // inputs, outputs, scratchpad
  std::vector<dnnl::memory> memories_;
};

/// Scratchpads come from the arena.
dnnl::primitive_attr user_scratchpad();

/// Lets a primitive end with max(y, 0). oneDNN's own ReLU turns NaNs into zeros, so a network that diverged
/// would look healthy; this one keeps them (and turns -inf into NaN).
void append_relu(dnnl::primitive_attr& attributes);

/// A copy between two formats of one tensor, in pieces of its first axis. Errors: ConfigError if oneDNN
/// has none.
std::unique_ptr<Kernel> make_reorder(const Format& from, const Format& to, int pieces,
                                     uint64_t& scratch_bytes);

}  // namespace tpack::cpu
