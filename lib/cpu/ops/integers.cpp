#include <array>

#include "backend/reference/indexing.h"
#include "cpu/kernel.h"
#include "cpu/parallel.h"
#include "graph/pointwise.h"

/// Pointwise functions of int32 and int64, exact: sweeps compute in float.
namespace tpack::cpu {
namespace {

using pointwise::Fn;
using pointwise::Instruction;

int64_t element(const std::byte* data, DType type, int64_t index) {
  return visit(type, [&](auto zero) {
    return static_cast<int64_t>(reinterpret_cast<const decltype(zero)*>(data)[index]);
  });
}

class IntegerKernel final : public Kernel {
 public:
  IntegerKernel(const Node& node, int pieces)
      : expression_(op_cast<pointwise::Pointwise>(node)->expression()),
        shape_(node.outputs[0].shape),
        pieces_(pieces),
        strides_(reference::strides_of(shape_)) {
    TPACK_ASSERT(expression_.code.size() <= kMaxInstructions, "a long expression of integers");
    for (const Symbol& input : node.inputs) {
      types_.push_back(input.dtype());
      places_.emplace_back(input.shape(), shape_.rank());
    }
  }

  void run(const KernelArgs& args) override {
    parallel_for(team_of(args), pieces_, shape_.elements(), kGrain / 8,
                 [&](int64_t begin, int64_t end, int /*piece*/) {
                   for (int64_t index = begin; index < end; ++index) compute(args, index);
                 });
  }

 private:
  static constexpr size_t kMaxInstructions = 16;  // of what the Builder makes; these are not fused

  reference::Coordinates coordinates(int64_t index) const {
    reference::Coordinates at{};
    for (size_t axis = 0; axis < shape_.rank(); ++axis) {
      at[axis] = index / strides_[axis];
      index %= strides_[axis];
    }
    return at;
  }

  void compute(const KernelArgs& args, int64_t index) const {
    const reference::Coordinates at = coordinates(index);
    std::array<int64_t, kMaxInstructions> r{};
    for (size_t i = 0; i < expression_.code.size(); ++i) {
      const Instruction& call = expression_.code[i];
      const auto arg = [&](size_t k) {
        return call.args[k] < 0 ? int64_t{0} : r[static_cast<size_t>(call.args[k])];
      };
      if (call.fn == Fn::kInput) {
        const auto input = static_cast<size_t>(call.args[0]);
        r[i] = element(args.in[input], types_[input], places_[input](at));
      } else if (call.fn == Fn::kConstant) {
        r[i] = static_cast<int64_t>(call.value);
      } else {
        r[i] = pointwise::evaluate<int64_t>(call.fn, arg(0), arg(1), arg(2));
      }
    }
    for (size_t k = 0; k < expression_.results.size(); ++k) {
      const int64_t value = r[static_cast<size_t>(expression_.results[k])];
      visit(expression_.types[k], [&](auto zero) {
        using T = decltype(zero);
        reinterpret_cast<T*>(args.out[k])[index] = pointwise::stored_as<T>(value);
      });
    }
  }

  pointwise::Expression expression_;
  Shape shape_;
  int pieces_;
  reference::Coordinates strides_;
  std::vector<DType> types_;  // of the inputs
  std::vector<reference::BroadcastIndex> places_;
};

PreparedKernel prepare_integers(const KernelRequest& request) {
  return plain_kernel(request, std::make_unique<IntegerKernel>(request.node, request.pieces));
}

const KernelRegistration kIntegers("Pointwise", prepare_integers, LayoutRule::kPlain, nullptr,
                                   {.int64 = true});

}  // namespace
}  // namespace tpack::cpu
