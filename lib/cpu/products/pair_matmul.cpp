#include "cpu/products/pair_matmul.h"

#include <algorithm>

#include "cpu/onednn/onednn.h"
#include "cpu/parallel.h"
#include "cpu/products/pair_grid.h"
#include "cpu/products/pair_products.h"

namespace tpack::cpu {
namespace {

using simd::kPairLanes;
using simd::kPairRows;
using simd::kPairVectors;

constexpr int64_t kPanelColumns = kPairVectors * kPairLanes;  // of a panel

/// A factor as lines (rows of the first, columns of the second one) of `inner` numbers.
struct PairFactor {
  DType type = DType::kBFloat16;
  bool has_lines = false;  // the numbers of a line are next to each other in memory; otherwise, the lines are
  int64_t lines = 0;
  int64_t inner = 0;

  PairFactor(const TensorSpec& spec, bool lines_first)
      : type(spec.dtype),
        has_lines(lines_first),
        lines(spec.shape[lines_first ? 0 : 1]),
        inner(spec.shape[lines_first ? 1 : 0]) {}

  int64_t number() const { return static_cast<int64_t>(size_of(type)); }  // bytes

  /// Pairs of the numbers `inner_part` of some lines, in blocks of 16 lines.
  void make_pairs(const std::byte* data, const PairRange& some_lines, const PairRange& inner_part,
                  uint32_t* to) const {
    const int64_t block_pairs = ceil_div(inner_part.size(), 2) * kPairLanes;
    if (has_lines) {
      const std::byte* from = data + (some_lines.begin * inner + inner_part.begin) * number();
      for (int64_t i = 0; i < some_lines.size(); i += kPairLanes) {
        const int64_t rows = std::min(kPairLanes, some_lines.size() - i);
        simd::transpose_pairs({type, from + i * inner * number(), inner * number(), rows, inner_part.size()},
                              to);
        to += block_pairs;
      }
      return;
    }
    for (int64_t i = inner_part.begin; i < inner_part.end; i += 2) {
      const std::byte* first = data + (i * lines + some_lines.begin) * number();
      const std::byte* second = i + 1 < inner_part.end ? first + lines * number() : nullptr;
      simd::make_row_pairs(type, first, second, some_lines.size(), to, block_pairs);
      to += kPairLanes;
    }
  }
};

/// Index i of parts of `size` of begin..end-1.
PairRange part_of(const PairRange& all, int64_t i, int64_t size) {
  return {all.begin + i * size, std::min(all.end, all.begin + (i + 1) * size)};
}

class PairMatMul final : public Kernel {
 public:
  PairMatMul(PairFactor a, PairFactor b, DType result, const Epilogue& epilogue, int pieces)
      : a_(a),
        b_(b),
        result_(result),
        epilogue_(epilogue),
        grid_({ceil_div(a.lines, kPairRows), ceil_div(b.lines, kPanelColumns)}, pieces) {
    const int64_t fitting = kMostPairs / block_pairs() * kPairLanes;
    const int64_t needed =
        ceil_div(grid_.part(grid_.pieces() - 1).rows.size() * kPairRows, kPairLanes) * kPairLanes;
    rows_at_once_ = std::clamp(std::min(fitting, needed), kFewestRows, kMostRows);
  }

  uint64_t scratch_bytes() const {
    return static_cast<uint64_t>(grid_.pieces() * piece_words()) * sizeof(uint32_t);
  }

  void run(const KernelArgs& args) override {
    parallel_for(team_of(args), grid_.pieces(), grid_.pieces(), 1,
                 [&](int64_t begin, int64_t end, int /*piece*/) {
                   for (int64_t number = begin; number < end; ++number) run_piece(args, number);
                 });
  }

 private:
  // A part of the result, and how many numbers are multiplied at once: the pairs of the second factor and the
  // sums take a quarter of the second-level cache. Rows of 128 columns are long enough to be read fast.
  static constexpr int64_t kMostRows = 256;
  static constexpr int64_t kFewestRows = 16;
  static constexpr int64_t kMostPairs = int64_t{1024} * 1024;  // of these rows, with all inner numbers
  static constexpr int64_t kColumnsAtOnce = 128;
  static constexpr int64_t kInnerAtOnce = 512;

  struct Part {
    PairRange rows;
    PairRange columns;
    PairRange inner;
    bool is_first() const { return inner.begin == 0; }
  };
  /// Scratch memory of a piece.
  struct Words {
    uint32_t* a;  // of the rows of a part, with all inner numbers
    uint32_t* b;
    float* sums;
  };

  int64_t block_pairs() const { return ceil_div(a_.inner, 2) * kPairLanes; }
  int64_t a_pairs() const { return rows_at_once_ / kPairLanes * block_pairs(); }
  static constexpr int64_t kBPairs = kColumnsAtOnce * kInnerAtOnce / 2;
  int64_t piece_words() const { return a_pairs() + kBPairs + rows_at_once_ * kColumnsAtOnce; }

  void run_piece(const KernelArgs& args, int64_t number) const {
    const PairGrid::Part panels = grid_.part(number);
    const PairRange rows = {panels.rows.begin * kPairRows, std::min(a_.lines, panels.rows.end * kPairRows)};
    const PairRange columns = {panels.columns.begin * kPanelColumns,
                               std::min(b_.lines, panels.columns.end * kPanelColumns)};
    const PairRange inner = {0, a_.inner};
    auto* words = reinterpret_cast<uint32_t*>(args.scratch) + number * piece_words();
    const Words at = {words, words + a_pairs(), reinterpret_cast<float*>(words + a_pairs() + kBPairs)};
    for (int64_t i = 0; i * rows_at_once_ < rows.size(); ++i) {
      Part part = {part_of(rows, i, rows_at_once_), {}, {}};
      for (int64_t k = 0; k * kInnerAtOnce < inner.size(); ++k) {
        part.inner = part_of(inner, k, kInnerAtOnce);
        a_.make_pairs(args.in[0], part.rows, part.inner, at.a + k * rows_at_once_ * kInnerAtOnce / 2);
      }
      for (int64_t j = 0; j * kColumnsAtOnce < columns.size(); ++j) {
        part.columns = part_of(columns, j, kColumnsAtOnce);
        for (int64_t k = 0; k * kInnerAtOnce < inner.size(); ++k) {
          part.inner = part_of(inner, k, kInnerAtOnce);
          b_.make_pairs(args.in[1], part.columns, part.inner, at.b);
          multiply(args, part, at);
        }
      }
    }
  }

  void multiply(const KernelArgs& args, const Part& part, const Words& at) const {
    const int64_t pairs = ceil_div(part.inner.size(), 2);
    const uint32_t* a = at.a + part.inner.begin * rows_at_once_ / 2;
    const simd::PairStrides stride = {0, 0, kPairLanes};
    simd::PairSteps steps = {
        .pixels = pairs, .a = stride, .b = stride, .add = !part.is_first(), .b_vector = pairs * kPairLanes};
    float* sums = at.sums;
    for (int64_t row = 0; row < part.rows.size(); row += kPairRows) {
      const uint32_t* rows = a + row / kPairLanes * pairs * kPairLanes + row % kPairLanes;
      for (int64_t column = 0; column < part.columns.size(); column += kPanelColumns) {
        steps.vectors = part.columns.size() - column > kPairLanes ? 2 : 1;
        simd::add_pair_products(rows, at.b + column * pairs, steps, sums);
        if (part.inner.end == a_.inner) store(args, sums, part, row, column);
        sums += kPairRows * kPanelColumns;
      }
    }
  }

  void store(const KernelArgs& args, const float* sums, const Part& part, int64_t row, int64_t column) const {
    const auto number = static_cast<int64_t>(size_of(result_));
    const int64_t y_row = part.rows.begin + row;
    const int64_t y_column = part.columns.begin + column;
    const int64_t columns = std::min(kPanelColumns, part.columns.size() - column);
    simd::store_sums(sums, columns > kPairLanes ? 2 : 1,
                     {.type = result_,
                      .data = args.out[0] + (y_row * b_.lines + y_column) * number,
                      .step = b_.lines * number,
                      .rows = std::min(kPairRows, part.rows.size() - row),
                      .columns = columns,
                      .bias = epilogue_.bias ? floats(args.in[2]) + y_column : nullptr,
                      .relu = epilogue_.relu});
  }

  PairFactor a_;
  PairFactor b_;
  DType result_;
  Epilogue epilogue_;
  PairGrid grid_;
  int64_t rows_at_once_ = kFewestRows;
};

}  // namespace

bool pair_matmul_fits(const Node& node, const MatMulParams& params) {
  constexpr int64_t kFewestRows = 64;  // to pay for making pairs of the second factor
  constexpr int64_t kFewest = 16;
  const TensorSpec a = node.inputs[0].spec();
  const TensorSpec b = node.inputs[1].spec();
  const auto is_float = [](DType type) { return type == DType::kFloat32 || type == DType::kBFloat16; };
  const bool has_types =
      is_float(a.dtype) && is_float(b.dtype) && (a.dtype == DType::kBFloat16 || b.dtype == DType::kBFloat16);
  if (!has_types || a.shape.rank() != 2 || b.shape.rank() != 2) return false;
  if (!simd::has_pair_products() || has_amx()) return false;
  const Shape& y = node.outputs[0].shape;
  return y[0] >= kFewestRows && y[1] >= kFewest && a.shape[params.transpose_a ? 0 : 1] >= kFewest;
}

PreparedKernel pair_matmul(const KernelRequest& request, const MatMulParams& params,
                           const Epilogue& epilogue) {
  const Node& n = request.node;
  auto kernel = std::make_unique<PairMatMul>(PairFactor(n.inputs[0].spec(), !params.transpose_a),
                                             PairFactor(n.inputs[1].spec(), params.transpose_b),
                                             n.outputs[0].dtype, epilogue, request.pieces);
  const uint64_t scratch_bytes = kernel->scratch_bytes();
  return plain_kernel(request, std::move(kernel), scratch_bytes);
}

}  // namespace tpack::cpu
