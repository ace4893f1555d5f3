#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "backend/cpu/kernel.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/simd.h"
#include "backend/cpu/sweep_plan.h"

namespace tpack::cpu {
namespace {

using pointwise::Fn;
using pointwise::Instruction;

/// Elements that a sweep works on at a time: a few registers of them stay in the first-level cache.
constexpr int64_t kCacheElements = 6144;
constexpr int64_t kSmallestTile = 128;
constexpr int64_t kLargestTile = 2048;
constexpr int64_t kGrain = 16384;  // elements worth waking a thread for

/// A rectangle of the walk: whole rows, or a part of one row.
struct Tile {
  int64_t outer = 0;
  int64_t row = 0;
  int64_t rows = 1;
  int64_t column = 0;
  int64_t columns = 1;
  int64_t elements() const { return rows * columns; }
};

/// Where a register of the expression lives while a tile is worked on.
struct Register {
  enum class Kind : uint8_t { kBuffer, kInput, kConstant };
  Kind kind = Kind::kBuffer;
  int slot = 0;  // buffer; of an input that needs one too
  float constant = 0;
  bool uniform = false;  // one number for the whole sweep
};

/// What each thread has for itself.
struct Workspace {
  float* buffers;                       // slots of tile_ elements
  float* sums;                          // one accumulator of tile_ elements a reduction
  float* totals;                        // this thread's part of every reduction's result
  std::array<int64_t, 16> filled_at;    // by input: offset that its buffer was filled from, -1 for none
  std::array<int64_t, 16> filled_size;  // and how many elements
  std::array<int64_t, 16> sum_at;       // by reduction: where the accumulator belongs, -1 for nowhere yet
  std::array<int64_t, 16> sum_columns;  // and how many columns of it count
};

class SweepKernel final : public CpuKernel {
 public:
  SweepKernel(const Sweep& op, const Node& node, Layout layout, int threads)
      : plan_(plan_sweep(op, node, layout)),
        expression_(op.expression()),
        reductions_(op.reductions()),
        threads_(threads) {
    for (const Symbol& input : node.inputs) types_.push_back(input.dtype());
    for (size_t i = 0; i < reductions_.size(); ++i) {
      const TensorSpec& spec = node.outputs[expression_.results.size() + i];
      total_offsets_.push_back(totals_size_);
      total_sizes_.push_back(static_cast<int64_t>(sweep_format(spec, layout).bytes() / sizeof(float)));
      // Padding of the channels is summed along and thrown away.
      const int64_t room = total_sizes_.back() + (plan_.padded_axis >= 0 ? 16 : 0);
      totals_size_ += (room + 15) / 16 * 16;
    }
    place_registers();
    choose_tile();
  }

  uint64_t scratch_bytes() const {
    return static_cast<uint64_t>(threads_) * thread_floats() * sizeof(float) + copy_bytes();
  }
  /// (result, input) pairs that may share memory: the result is written at or after the last read of the
  /// input.
  std::vector<std::pair<int, int>> in_place(const Node& node) const;

  void run(const KernelArgs& args) override {
    pad_vectors(args);
    const int64_t total = plan_.outer() * tiles_per_outer();
    const int64_t tile_elements = std::max<int64_t>(1, plan_.columns() * plan_.rows() / tiles_per_outer());
    const int64_t grain = std::max<int64_t>(1, kGrain / tile_elements);
    const int used = threads_for(threads_, total, grain);
    parallel_for(used, total, 1,
                 [&](int64_t begin, int64_t end, int thread) { sweep(args, begin, end, thread); });
    combine(args, used);
  }

 private:
  // --- preparation

  void place_registers() {
    const auto& code = expression_.code;
    std::vector<size_t> last_use(code.size(), 0);
    for (size_t i = 0; i < code.size(); ++i) {
      for (const int argument : code[i].args) {
        if (argument >= 0 && code[i].fn != Fn::kInput) last_use[static_cast<size_t>(argument)] = i;
      }
    }
    for (const SweepReduction& r : reductions_) last_use[static_cast<size_t>(r.value)] = code.size();
    for (const int result : expression_.results) last_use[static_cast<size_t>(result)] = code.size();
    last_use_ = last_use;
    std::vector<int> free;
    registers_.resize(code.size());
    for (size_t i = 0; i < code.size(); ++i) {
      Register& r = registers_[i];
      if (code[i].fn == Fn::kConstant) {
        r = {Register::Kind::kConstant, 0, static_cast<float>(code[i].value), true};
        continue;
      }
      const bool input = code[i].fn == Fn::kInput;
      r.kind = input ? Register::Kind::kInput : Register::Kind::kBuffer;
      r.uniform = input ? is_uniform(static_cast<size_t>(code[i].args[0])) : all_uniform(code[i]);
      // Inputs keep their buffers: what was filled once may serve the next tile.
      if (!input && !free.empty()) {
        r.slot = free.back();
        free.pop_back();
      } else {
        r.slot = slots_++;
      }
      for (size_t k = 0; k < i; ++k) {
        const bool ends_here = last_use[k] == i && registers_[k].kind == Register::Kind::kBuffer;
        if (ends_here && code[k].fn != Fn::kConstant) free.push_back(registers_[k].slot);
      }
    }
  }

  bool all_uniform(const Instruction& instruction) const {
    return std::all_of(instruction.args.begin(), instruction.args.end(),
                       [&](int a) { return a < 0 || registers_[static_cast<size_t>(a)].uniform; });
  }
  bool is_uniform(size_t input) const {
    const Steps& steps = plan_.inputs[input];
    return std::all_of(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(plan_.sizes.size()),
                       [](int64_t s) { return s == 0; });
  }

  void choose_tile() {
    const int64_t wanted = std::clamp(kCacheElements / std::max(1, slots_), kSmallestTile, kLargestTile);
    const int64_t columns = plan_.columns();
    if (columns >= wanted) {
      tile_rows_ = 1;
      tile_columns_ = std::min(columns, (wanted + 15) / 16 * 16);
    } else {
      tile_rows_ = std::clamp<int64_t>(wanted / columns, 1, plan_.rows());
      tile_columns_ = columns;
    }
    tile_ = (tile_rows_ * tile_columns_ + 15) / 16 * 16;
  }

  int64_t row_tiles() const { return (plan_.rows() + tile_rows_ - 1) / tile_rows_; }
  int64_t column_tiles() const { return (plan_.columns() + tile_columns_ - 1) / tile_columns_; }
  int64_t tiles_per_outer() const { return row_tiles() * column_tiles(); }
  uint64_t thread_floats() const {
    return static_cast<uint64_t>(slots_ * tile_ + static_cast<int64_t>(reductions_.size()) * tile_ +
                                 totals_size_);
  }
  uint64_t copy_bytes() const {
    uint64_t bytes = 0;
    for (const int64_t channels : plan_.input_copy)
      bytes += static_cast<uint64_t>((channels + 31) / 16 * 16) * sizeof(float);
    return bytes;
  }

  // --- running

  /// Per-channel inputs of a blocked sweep whose last block is not full get zeros behind them.
  void pad_vectors(const KernelArgs& args) {
    std::copy(args.in.begin(), args.in.end(), inputs_.begin());
    std::byte* at = args.scratch + static_cast<uint64_t>(threads_) * thread_floats() * sizeof(float);
    for (size_t i = 0; i < plan_.input_copy.size(); ++i) {
      const auto channels = static_cast<size_t>(plan_.input_copy[i]);
      if (channels == 0) continue;
      const size_t room = (channels + 31) / 16 * 16 * sizeof(float);
      std::memset(at, 0, room);
      std::memcpy(at, args.in[i], channels * size_of(types_[i]));
      inputs_[i] = at;
      at += room;
    }
  }

  Workspace workspace(const KernelArgs& args, int thread) const {
    float* base = reinterpret_cast<float*>(args.scratch) + static_cast<uint64_t>(thread) * thread_floats();
    Workspace w{base,
                base + slots_ * tile_,
                base + (slots_ + static_cast<int>(reductions_.size())) * tile_,
                {},
                {},
                {},
                {}};
    w.filled_at.fill(-1);
    w.sum_at.fill(-1);
    for (size_t i = 0; i < reductions_.size(); ++i) {
      simd::fill(neutral(i), w.totals + total_offsets_[i],
                 static_cast<size_t>(total_end(i) - total_offsets_[i]));
    }
    return w;
  }
  int64_t total_end(size_t i) const {
    return i + 1 < total_offsets_.size() ? total_offsets_[i + 1] : totals_size_;
  }
  float neutral(size_t i) const {
    return reductions_[i].kind == Reduction::kSum ? 0.0F : -std::numeric_limits<float>::infinity();
  }

  void sweep(const KernelArgs& args, int64_t begin, int64_t end, int thread) {
    Workspace w = workspace(args, thread);
    for (int64_t index = begin; index < end; ++index) {
      Tile tile;
      tile.outer = index / tiles_per_outer();
      const int64_t inside = index % tiles_per_outer();
      tile.row = inside / column_tiles() * tile_rows_;
      tile.rows = std::min(tile_rows_, plan_.rows() - tile.row);
      tile.column = inside % column_tiles() * tile_columns_;
      tile.columns = std::min(tile_columns_, plan_.columns() - tile.column);
      work_on(args, tile, w);
    }
    for (size_t i = 0; i < reductions_.size(); ++i) fold(i, w);
  }

  /// Offset of a tile's first element for an operand with these steps.
  int64_t offset(const Steps& steps, const Tile& tile) const {
    const size_t last = plan_.sizes.size() - 1;
    int64_t at = tile.row * steps[last - 1] + tile.column * steps[last];
    int64_t rest = tile.outer;
    for (size_t axis = last - 1; axis-- > 0;) {
      at += rest % plan_.sizes[axis] * steps[axis];
      rest /= plan_.sizes[axis];
    }
    return at;
  }
  int64_t linear(const Tile& tile) const {
    return (tile.outer * plan_.rows() + tile.row) * plan_.columns() + tile.column;
  }

  void work_on(const KernelArgs& args, const Tile& tile, Workspace& w) {
    std::array<const float*, 64> value{};
    const auto n = static_cast<size_t>(tile.elements());
    const auto& code = expression_.code;
    for (size_t i = 0; i < code.size(); ++i) {
      const Register& r = registers_[i];
      if (r.kind == Register::Kind::kConstant) {
        value[i] = &r.constant;
      } else if (r.kind == Register::Kind::kInput) {
        value[i] = load(static_cast<size_t>(code[i].args[0]), r, tile, w);
      } else {
        float* out = target(args, static_cast<int>(i), tile, w);
        const auto operand = [&](size_t k) {
          const int a = code[i].args[k];
          return a < 0 ? simd::Vector{}
                       : simd::Vector{value[static_cast<size_t>(a)],
                                      registers_[static_cast<size_t>(a)].uniform};
        };
        simd::apply(code[i].fn, operand(0), operand(1), operand(2), out, r.uniform ? 1 : n);
        value[i] = out;
      }
    }
    const bool clear = in_padding(tile);
    for (size_t k = 0; k < expression_.results.size(); ++k) store(args, k, value, tile, clear);
    for (size_t k = 0; k < reductions_.size(); ++k) {
      const auto reg = static_cast<size_t>(reductions_[k].value);
      const float* x = value[reg];
      if (clear && registers_[reg].kind == Register::Kind::kBuffer)
        clear_padding(const_cast<float*>(x), tile);
      reduce(k, x, registers_[reg].uniform, tile, w);
    }
  }

  /// A result that is a float is computed where it is wanted.
  float* target(const KernelArgs& args, int reg, const Tile& tile, const Workspace& w) const {
    for (size_t k = 0; k < expression_.results.size(); ++k) {
      if (expression_.results[k] == reg && expression_.types[k] == DType::kFloat32) {
        return reinterpret_cast<float*>(args.out[k]) + linear(tile);
      }
    }
    return w.buffers + registers_[static_cast<size_t>(reg)].slot * tile_;
  }

  const float* load(size_t input, const Register& r, const Tile& tile, Workspace& w) const {
    const Steps& steps = plan_.inputs[input];
    const size_t last = plan_.sizes.size() - 1;
    const int64_t at = offset(steps, tile);
    const int64_t row_step = steps[last - 1];
    const int64_t step = steps[last];
    const bool whole = step == 1 && (tile.rows == 1 || row_step == tile.columns);
    if (whole && types_[input] == DType::kFloat32) return reinterpret_cast<const float*>(inputs_[input]) + at;
    float* buffer = w.buffers + r.slot * tile_;
    const int64_t n = r.uniform ? 1 : tile.elements();
    if (w.filled_at[input] == at && w.filled_size[input] >= n) return buffer;
    if (r.uniform) {
      convert(input, at, buffer, 1);
    } else if (whole) {
      convert(input, at, buffer, n);
    } else {
      for (int64_t row = 0; row < tile.rows; ++row)
        fill_row(input, at + row * row_step, step, buffer + row * tile.columns, tile.columns);
    }
    w.filled_at[input] = at;
    w.filled_size[input] = n;
    return buffer;
  }

  void fill_row(size_t input, int64_t at, int64_t step, float* to, int64_t n) const {
    if (step == 1) return convert(input, at, to, n);
    if (step == 0) {
      convert(input, at, to, 1);
      return simd::fill(to[0], to, static_cast<size_t>(n));
    }
    for (int64_t i = 0; i < n; ++i) convert(input, at + i * step, to + i, 1);
  }

  void convert(size_t input, int64_t at, float* to, int64_t count) const {
    const auto n = static_cast<size_t>(count);
    const std::byte* from = inputs_[input];
    switch (types_[input]) {
      case DType::kFloat32:
        std::memcpy(to, reinterpret_cast<const float*>(from) + at, n * sizeof(float));
        return;
      case DType::kInt32:
        return simd::from_int32(reinterpret_cast<const int32_t*>(from) + at, to, n);
      default:
        return simd::from_uint8(reinterpret_cast<const uint8_t*>(from) + at, to, n);
    }
  }

  void store(const KernelArgs& args, size_t k, const std::array<const float*, 64>& value, const Tile& tile,
             bool clear) const {
    const auto reg = static_cast<size_t>(expression_.results[k]);
    const int64_t at = linear(tile);
    const auto n = static_cast<size_t>(tile.elements());
    const float* x = value[reg];
    if (expression_.types[k] == DType::kFloat32) {
      float* to = reinterpret_cast<float*>(args.out[k]) + at;
      if (registers_[reg].uniform) simd::fill(x[0], to, n);
      if (!registers_[reg].uniform && x != to) std::memcpy(to, x, n * sizeof(float));
      if (clear) clear_padding(to, tile);
      return;
    }
    for (size_t i = 0; i < n && registers_[reg].uniform; ++i)
      store_one(args.out[k], expression_.types[k], at + static_cast<int64_t>(i), x[0]);
    if (registers_[reg].uniform) return;
    if (expression_.types[k] == DType::kInt32)
      return simd::to_int32(x, reinterpret_cast<int32_t*>(args.out[k]) + at, n);
    simd::to_uint8(x, reinterpret_cast<uint8_t*>(args.out[k]) + at, n);
  }

  static void store_one(std::byte* out, DType type, int64_t at, float x) {
    if (type == DType::kInt32) {
      reinterpret_cast<int32_t*>(out)[at] = static_cast<int32_t>(x);
    } else {
      reinterpret_cast<uint8_t*>(out)[at] = static_cast<uint8_t>(x);
    }
  }

  bool in_padding(const Tile& tile) const {
    if (plan_.padded_axis < 0) return false;
    int64_t rest = tile.outer;
    for (size_t axis = plan_.sizes.size() - 2; axis-- > 0;) {
      if (static_cast<int>(axis) == plan_.padded_axis) return rest % plan_.sizes[axis] == plan_.padded_step;
      rest /= plan_.sizes[axis];
    }
    return plan_.padded_axis == static_cast<int>(plan_.sizes.size()) - 2 &&
           tile.row + tile.rows > plan_.padded_step;
  }
  /// Zeros in the lanes behind the last channel (columns are the 16 lanes there).
  void clear_padding(float* x, const Tile& tile) const {
    const bool rows_are_blocks = plan_.padded_axis == static_cast<int>(plan_.sizes.size()) - 2;
    for (int64_t row = 0; row < tile.rows; ++row) {
      if (rows_are_blocks && tile.row + row != plan_.padded_step) continue;
      std::fill(x + row * tile.columns + plan_.padded_lanes, x + (row + 1) * tile.columns, 0.0F);
    }
  }

  // --- reductions

  void reduce(size_t k, const float* x, bool uniform, const Tile& tile, Workspace& w) const {
    const Steps& steps = plan_.reductions[k];
    const size_t last = plan_.sizes.size() - 1;
    const int64_t at = offset(steps, tile);
    const bool sum = reductions_[k].kind == Reduction::kSum;
    float* totals = w.totals + total_offsets_[k];
    if (uniform) {  // rare: the sum of a number that was broadcast
      for (int64_t i = 0; i < tile.elements(); ++i) {
        float& total = totals[at + i / tile.columns * steps[last - 1] + i % tile.columns * steps[last]];
        total = sum ? total + x[0] : std::max(total, x[0]);
      }
      return;
    }
    if (steps[last - 1] == 0 && steps[last] <= 1) return accumulate(k, x, at, tile, w);
    for (int64_t row = 0; row < tile.rows; ++row) {
      const float* from = x + row * tile.columns;
      float* to = totals + at + row * steps[last - 1];
      const auto n = static_cast<size_t>(tile.columns);
      if (steps[last] == 0) {
        *to = sum ? *to + simd::sum(from, n) : std::max(*to, simd::max(from, n));
      } else if (steps[last] == 1) {
        sum ? simd::add_to(from, to, n) : simd::max_to(from, to, n);
      } else {
        for (int64_t i = 0; i < tile.columns; ++i)
          to[i * steps[last]] = sum ? to[i * steps[last]] + from[i] : std::max(to[i * steps[last]], from[i]);
      }
    }
  }

  /// Rows are summed one upon the other: element by element into an accumulator as large as a tile, folded
  /// only when the place of the result changes. Each slot adds few numbers, so little is rounded away.
  void accumulate(size_t k, const float* x, int64_t at, const Tile& tile, Workspace& w) const {
    float* sums = w.sums + static_cast<int64_t>(k) * tile_;
    if (w.sum_at[k] != at) {
      fold(k, w);
      simd::fill(neutral(k), sums, static_cast<size_t>(tile_));
      w.sum_at[k] = at;
      w.sum_columns[k] = tile.columns;
    }
    const auto n = static_cast<size_t>(tile.elements());
    reductions_[k].kind == Reduction::kSum ? simd::add_to(x, sums, n) : simd::max_to(x, sums, n);
  }

  void fold(size_t k, Workspace& w) const {
    if (w.sum_at[k] < 0) return;
    const float* sums = w.sums + static_cast<int64_t>(k) * tile_;
    float* totals = w.totals + total_offsets_[k] + w.sum_at[k];
    const int64_t step = plan_.reductions[k][plan_.sizes.size() - 1];
    const bool sum = reductions_[k].kind == Reduction::kSum;
    for (int64_t column = 0; column < (step == 0 ? 1 : w.sum_columns[k]); ++column) {
      double total = static_cast<double>(totals[column]);
      const int64_t stride = step == 0 ? 1 : w.sum_columns[k];
      const int64_t count = step == 0 ? tile_rows_ * tile_columns_ : tile_rows_;
      for (int64_t i = 0; i < count; ++i) {
        const auto part = static_cast<double>(sums[column + i * stride]);
        total = sum ? total + part : std::max(total, part);
      }
      totals[column] = static_cast<float>(total);
    }
    w.sum_at[k] = -1;
  }

  /// The threads' parts, in the order of the threads.
  void combine(const KernelArgs& args, int used) const {
    const auto* base = reinterpret_cast<const float*>(args.scratch) + slots_ * tile_ +
                       static_cast<int64_t>(reductions_.size()) * tile_;
    for (size_t k = 0; k < reductions_.size(); ++k) {
      auto* out = reinterpret_cast<float*>(args.out[expression_.results.size() + k]);
      const bool sum = reductions_[k].kind == Reduction::kSum;
      const float* first = base + total_offsets_[k];
      for (int64_t i = 0; i < total_sizes_[k]; ++i) {
        float total = first[i];
        for (int t = 1; t < used; ++t) {
          const float part = first[i + static_cast<int64_t>(static_cast<uint64_t>(t) * thread_floats())];
          total = sum ? total + part : std::max(total, part);
        }
        out[i] = total;
      }
    }
  }

  SweepPlan plan_;
  pointwise::Expression expression_;
  std::vector<SweepReduction> reductions_;
  int threads_;
  std::vector<DType> types_;  // of the inputs
  std::vector<Register> registers_;
  std::vector<size_t> last_use_;  // by register: the instruction that reads it last
  int slots_ = 0;
  int64_t tile_rows_ = 1;
  int64_t tile_columns_ = 1;
  int64_t tile_ = 16;  // elements of a buffer
  std::vector<int64_t> total_offsets_;
  std::vector<int64_t> total_sizes_;
  int64_t totals_size_ = 0;
  std::array<const std::byte*, 16> inputs_{};  // of this run
};

std::vector<std::pair<int, int>> SweepKernel::in_place(const Node& node) const {
  std::vector<std::pair<int, int>> pairs;
  for (size_t k = 0; k < expression_.results.size(); ++k) {
    if (expression_.types[k] != DType::kFloat32) continue;
    const auto result = static_cast<size_t>(expression_.results[k]);
    if (registers_[result].kind != Register::Kind::kBuffer) continue;
    for (size_t i = 0; i < expression_.code.size(); ++i) {
      if (registers_[i].kind != Register::Kind::kInput) continue;
      const auto input = static_cast<size_t>(expression_.code[i].args[0]);
      const bool same_shape = node.inputs[input].spec() == node.outputs[k];
      if (same_shape && last_use_[i] <= result)
        pairs.emplace_back(static_cast<int>(k), static_cast<int>(input));
    }
  }
  return pairs;
}

PreparedKernel prepare(const KernelRequest& request) {
  const Sweep& op = *op_cast<Sweep>(request.node);
  const Layout layout = op.shape().rank() == 4 ? request.layout : Layout::kPlain;
  auto kernel = std::make_unique<SweepKernel>(op, request.node, layout, request.threads);
  PreparedKernel prepared;
  for (const Symbol& input : request.node.inputs) prepared.in.push_back(sweep_format(input.spec(), layout));
  const size_t results = op.expression().results.size();
  for (size_t i = 0; i < request.node.outputs.size(); ++i) {
    const TensorSpec& spec = request.node.outputs[i];
    prepared.out.push_back(i < results ? make_format(spec, layout) : sweep_format(spec, layout));
  }
  prepared.scratch_bytes = kernel->scratch_bytes();
  prepared.in_place = kernel->in_place(request.node);
  prepared.kernel = std::move(kernel);
  return prepared;
}

const Registration kSweep("Sweep", prepare, LayoutRule::kAgnostic);

}  // namespace
}  // namespace tpack::cpu
