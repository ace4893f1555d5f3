#include <algorithm>
#include <array>
#include <cstring>

#include "cpu/kernel.h"
#include "cpu/ops/float_elements.h"
#include "cpu/parallel.h"
#include "cpu/sweep/simd.h"
#include "cpu/sweep/sweep_code.h"
#include "cpu/sweep/sweep_reductions.h"

namespace tpack::cpu {
namespace {

using pointwise::Fn;
using pointwise::Instruction;
using Walk = SweepSource::Walk;

/// Elements that a sweep processes at a time: a few registers of them stay in the first-level cache.
constexpr int64_t kCacheElements = 6144;
constexpr int64_t kMinTile = 128;
constexpr int64_t kMaxTile = 2048;
constexpr int64_t kCodeTile = 2048;  // with machine code, whose values in between are in registers

/// Where a register of the expression is stored while a tile is processed.
struct Register {
  enum class Kind : uint8_t { kBuffer, kInput, kConstant };
  Kind kind = Kind::kBuffer;
  int slot = 0;  // buffer; of an input that needs one too
  float constant = 0;
  bool uniform = false;  // one number for the whole sweep
};

/// The working memory of one piece.
struct Workspace {
  float* buffers = nullptr;  // slots of a tile's elements
  std::array<int64_t, Sweep::kMaxInputs>
      filled_at{};  // by input: offset that its buffer was filled from, -1 for none
  std::array<int64_t, Sweep::kMaxInputs> filled_size{};  // and how many elements
  SweepReductions::Accumulators sums;
};

class SweepKernel final : public Kernel {
 public:
  SweepKernel(const Sweep& op, const Node& node, Layout layout, int pieces)
      : plan_(plan_sweep(op, node, layout)),
        expression_(op.expression()),
        reductions_(op, node, layout, plan_),
        pieces_(pieces) {
    for (const Symbol& input : node.inputs) types_.push_back(input.dtype());
    place_registers();
    make_code();
    if (code_ == nullptr) plan_.cut(std::clamp(kCacheElements / std::max(1, slots_), kMinTile, kMaxTile));
  }

  uint64_t scratch_bytes() const {
    return static_cast<uint64_t>(pieces_) * piece_floats() * sizeof(float) + copy_bytes();
  }
  /// (result, input) pairs that may share memory: the result is written no earlier than the last read of the
  /// input.
  std::vector<std::pair<int, int>> in_place(const Node& node) const;

  void run(const KernelArgs& args) override {
    pad_vectors(args);
    const int64_t tiles = plan_.tiles();
    const int64_t grain = std::max<int64_t>(1, kGrain / (plan_.tile_rows * plan_.tile_columns));
    const int used = pieces_for(pieces_, tiles, grain);
    parallel_for(team_of(args), used, tiles, 1,
                 [&](int64_t begin, int64_t end, int piece) { sweep(args, begin, end, piece); });
    const auto* totals = reinterpret_cast<const float*>(args.scratch) + slots_ * plan_.tile_room() +
                         static_cast<int64_t>(reductions_.count()) * plan_.tile_room();
    reductions_.combine(totals, piece_floats(), used, args.out.subspan(expression_.results.size()));
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
    for (size_t k = 0; k < reductions_.count(); ++k)
      last_use[static_cast<size_t>(reductions_[k].value)] = code.size();
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
      // Inputs keep their buffers: one that is filled may serve the next tile.
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

  /// Machine code for a tile, if there is any: it takes the place of the functions one by one.
  void make_code() {
    if (plan_.padded_axis >= 0) return;  // lanes of padding are cleared one by one
    plan_.cut(kCodeTile);
    std::vector<SweepSource> sources;
    auto buffers = static_cast<int64_t>(reductions_.count());
    for (size_t i = 0; i < types_.size(); ++i) {
      direct_.push_back(is_in_order(i) && SweepCode::reads(types_[i]));
      if (direct_[i]) {
        sources.push_back({types_[i], walk_of(i)});
        reads_rows_ = reads_rows_ || walk_of(i) == Walk::kRow;
      } else {
        sources.push_back({DType::kFloat32, is_uniform(i) ? Walk::kUniform : Walk::kElements});
        buffers += is_uniform(i) ? 0 : 1;
      }
    }
    std::vector<SweepSink> sinks;
    for (size_t k = 0; k < expression_.results.size(); ++k) {
      if (!SweepCode::writes(expression_.types[k])) return;
      sinks.push_back({expression_.results[k], SweepSink::Kind::kStore, expression_.types[k]});
    }
    for (size_t k = 0; k < reductions_.count(); ++k) {
      if (is_added_by_code(k)) {
        sinks.push_back({reductions_[k].value, SweepSink::Kind::kAdd, DType::kFloat32});
      } else if (is_stored_for(k)) {
        sinks.push_back({reductions_[k].value, SweepSink::Kind::kStore, DType::kFloat32});
      }
    }
    code_ = SweepCode::make(expression_, sources, sinks, reads_rows_ ? plan_.columns() : 0);
    plan_.cut(std::clamp(kCacheElements / std::max<int64_t>(1, buffers), kMinTile, kCodeTile));
  }
  /// Whether whole tiles of an input can be read where they are.
  bool is_in_order(size_t input) const {
    const Steps& steps = plan_.inputs[input];
    const size_t last = plan_.sizes.size() - 1;
    const bool follows = steps[last - 1] == plan_.columns() || plan_.tile_rows == 1;
    return steps[last] == 1 && (follows || walk_of(input) == Walk::kRow);
  }
  Walk walk_of(size_t input) const {
    const Steps& steps = plan_.inputs[input];
    const size_t last = plan_.sizes.size() - 1;
    const bool repeats = plan_.tile_rows > 1 && steps[last] == 1 && steps[last - 1] == 0;
    return repeats && plan_.columns() % SweepCode::kWholeVectors == 0 ? Walk::kRow : Walk::kElements;
  }
  bool is_added_by_code(size_t k) const {
    return reductions_.adds_tiles(k) && !registers_[static_cast<size_t>(reductions_[k].value)].uniform;
  }
  /// Whether reduction k cannot read its register where it is: what is computed, or converted from another
  /// type.
  bool needs_buffer(size_t k) const {
    const int value = reductions_[k].value;
    const Register& r = registers_[static_cast<size_t>(value)];
    if (r.kind != Register::Kind::kInput) return r.kind == Register::Kind::kBuffer;
    const auto input = static_cast<size_t>(expression_.code[static_cast<size_t>(value)].args[0]);
    return direct_[input] && types_[input] != DType::kFloat32;
  }

  /// Whether the code stores the register of reduction k for it: mean and variance have one in common.
  bool is_stored_for(size_t k) const {
    if (is_added_by_code(k) || !needs_buffer(k)) return false;
    for (size_t earlier = 0; earlier < k; ++earlier) {
      if (reductions_[earlier].value == reductions_[k].value && is_stored_for(earlier)) return false;
    }
    return true;
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

  uint64_t piece_floats() const {
    return static_cast<uint64_t>(slots_ * plan_.tile_room() + reductions_.floats(plan_.tile_room()));
  }
  uint64_t copy_bytes() const {
    uint64_t bytes = 0;
    for (const int64_t channels : plan_.input_copy)
      bytes += static_cast<uint64_t>((channels + 31) / 16 * 16) * sizeof(float);
    return bytes;
  }

  // --- running

  /// Per-channel inputs of a blocked sweep whose last block is not full are padded with zeros.
  void pad_vectors(const KernelArgs& args) {
    std::copy(args.in.begin(), args.in.end(), inputs_.begin());
    std::byte* at = args.scratch + static_cast<uint64_t>(pieces_) * piece_floats() * sizeof(float);
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

  Workspace workspace(const KernelArgs& args, int piece) const {
    float* base = reinterpret_cast<float*>(args.scratch) + static_cast<uint64_t>(piece) * piece_floats();
    Workspace w;
    w.buffers = base;
    w.filled_at.fill(-1);
    w.sums = reductions_.begin(base + slots_ * plan_.tile_room(), plan_.tile_room());
    return w;
  }

  void sweep(const KernelArgs& args, int64_t begin, int64_t end, int piece) {
    Workspace w = workspace(args, piece);
    for (int64_t index = begin; index < end; ++index) work_on(args, plan_.tile(index), w);
    reductions_.finish(w.sums);
  }

  void work_on(const KernelArgs& args, const SweepTile& tile, Workspace& w) {
    if (code_ != nullptr) return run_code(args, tile, w);
    std::array<const float*, Sweep::kMaxInstructions> value{};
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
    const bool clear = plan_.in_padding(tile);
    for (size_t k = 0; k < expression_.results.size(); ++k) {
      store(args, k, value, tile);
      if (clear) clear_result(args, k, tile);
    }
    for (size_t k = 0; k < reductions_.count(); ++k) {
      const auto reg = static_cast<size_t>(reductions_[k].value);
      const float* x = value[reg];
      if (clear && registers_[reg].kind == Register::Kind::kBuffer)
        clear_padding(const_cast<float*>(x), tile);
      reductions_.reduce(k, x, registers_[reg].uniform, tile, w.sums);
    }
  }

  void run_code(const KernelArgs& args, const SweepTile& tile, Workspace& w) const {
    SweepCode::Operands operands;
    operands.rows = reads_rows_ ? tile.rows : 1;
    operands.columns = reads_rows_ ? tile.columns : tile.elements();
    std::array<const float*, Sweep::kMaxInstructions> value{};  // of inputs and constants
    for (size_t i = 0; i < expression_.code.size(); ++i) {
      const Register& r = registers_[i];
      if (r.kind == Register::Kind::kConstant) value[i] = &r.constant;
      if (r.kind != Register::Kind::kInput) continue;
      const auto input = static_cast<size_t>(expression_.code[i].args[0]);
      if (direct_[input]) {
        const int64_t at = plan_.offset(plan_.inputs[input], tile);
        operands.sources[input] = inputs_[input] + at * static_cast<int64_t>(size_of(types_[input]));
      } else {
        operands.sources[input] = reinterpret_cast<const std::byte*>(load(input, r, tile, w));
      }
      value[i] = reinterpret_cast<const float*>(operands.sources[input]);
    }
    size_t sink = 0;
    for (size_t k = 0; k < expression_.results.size(); ++k) {
      const auto width = static_cast<int64_t>(size_of(expression_.types[k]));
      operands.sinks[sink++] = args.out[k] + plan_.offset(tile) * width;
    }
    for (size_t k = 0; k < reductions_.count(); ++k) {
      const int reg = reductions_[k].value;
      float* to = nullptr;
      if (is_added_by_code(k)) {
        to = reductions_.sums_of(k, tile, w.sums);
      } else if (is_stored_for(k)) {
        to = w.buffers + registers_[static_cast<size_t>(reg)].slot * plan_.tile_room();
        value[static_cast<size_t>(reg)] = to;
      }
      if (to != nullptr) operands.sinks[sink++] = reinterpret_cast<std::byte*>(to);
    }
    code_->run(operands);
    for (size_t k = 0; k < reductions_.count(); ++k) {
      const auto reg = static_cast<size_t>(reductions_[k].value);
      if (!is_added_by_code(k)) reductions_.reduce(k, value[reg], registers_[reg].uniform, tile, w.sums);
    }
  }

  /// A result that is a float is computed in place.
  float* target(const KernelArgs& args, int reg, const SweepTile& tile, const Workspace& w) const {
    for (size_t k = 0; k < expression_.results.size(); ++k) {
      if (expression_.results[k] == reg && expression_.types[k] == DType::kFloat32) {
        return reinterpret_cast<float*>(args.out[k]) + plan_.offset(tile);
      }
    }
    return w.buffers + registers_[static_cast<size_t>(reg)].slot * plan_.tile_room();
  }

  const float* load(size_t input, const Register& r, const SweepTile& tile, Workspace& w) const {
    const Steps& steps = plan_.inputs[input];
    const size_t last = plan_.sizes.size() - 1;
    const int64_t at = plan_.offset(steps, tile);
    const int64_t row_step = steps[last - 1];
    const int64_t step = steps[last];
    const bool whole = step == 1 && (tile.rows == 1 || row_step == tile.columns);
    if (whole && types_[input] == DType::kFloat32) return reinterpret_cast<const float*>(inputs_[input]) + at;
    float* buffer = w.buffers + r.slot * plan_.tile_room();
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
    load_floats(types_[input], inputs_[input], at, to, count);
  }

  void store(const KernelArgs& args, size_t k, const std::array<const float*, Sweep::kMaxInstructions>& value,
             const SweepTile& tile) const {
    const auto reg = static_cast<size_t>(expression_.results[k]);
    const DType type = expression_.types[k];
    const int64_t at = plan_.offset(tile);
    const int64_t n = tile.elements();
    const float* x = value[reg];
    float* floats = type == DType::kFloat32 ? floats_out(args.out[k]) + at : nullptr;
    if (!registers_[reg].uniform) {
      store_floats(type, x, args.out[k], at, n);
    } else if (floats != nullptr) {
      simd::fill(x[0], floats, static_cast<size_t>(n));
    } else {
      for (int64_t i = 0; i < n; ++i) store_floats(type, x, args.out[k], at + i, 1);
    }
  }

  void clear_result(const KernelArgs& args, size_t k, const SweepTile& tile) const {
    visit_any(expression_.types[k], [&](auto zero) {
      if constexpr (std::is_same_v<decltype(zero), float> || kIsHalf<decltype(zero)>)
        clear_padding(reinterpret_cast<decltype(zero)*>(args.out[k]) + plan_.offset(tile), tile);
    });
  }

  /// Zeros in the lanes after the last channel (columns are the 16 lanes there).
  template <class T>
  void clear_padding(T* x, const SweepTile& tile) const {
    const bool rows_are_blocks = plan_.padded_axis == static_cast<int>(plan_.sizes.size()) - 2;
    for (int64_t row = 0; row < tile.rows; ++row) {
      if (rows_are_blocks && tile.row + row != plan_.padded_step) continue;
      std::fill(x + row * tile.columns + plan_.padded_lanes, x + (row + 1) * tile.columns, T{});
    }
  }

  SweepPlan plan_;
  pointwise::Expression expression_;
  SweepReductions reductions_;
  int pieces_;
  std::vector<DType> types_;  // of the inputs
  std::vector<Register> registers_;
  std::vector<size_t> last_use_;  // by register: the instruction that reads it last
  int slots_ = 0;
  std::vector<bool> direct_;  // by input: the code reads it where it is
  bool reads_rows_ = false;   // and some of them again for each row
  std::unique_ptr<const SweepCode> code_;
  std::array<const std::byte*, Sweep::kMaxInputs> inputs_{};  // of this run
};

std::vector<std::pair<int, int>> SweepKernel::in_place(const Node& node) const {
  std::vector<std::pair<int, int>> pairs;
  for (size_t k = 0; k < expression_.results.size(); ++k) {
    const bool is_float = expression_.types[k] == DType::kFloat32;
    if (!is_float && !is_half(expression_.types[k])) continue;
    const auto result = static_cast<size_t>(expression_.results[k]);
    if (registers_[result].kind != Register::Kind::kBuffer) continue;
    for (size_t i = 0; i < expression_.code.size(); ++i) {
      if (registers_[i].kind != Register::Kind::kInput) continue;
      const auto input = static_cast<size_t>(expression_.code[i].args[0]);
      const bool same_shape = node.inputs[input].spec() == node.outputs[k];
      // A float is written where it is computed; a half not before those that come earlier are read.
      if (same_shape && (is_float ? last_use_[i] : i) <= result)
        pairs.emplace_back(static_cast<int>(k), static_cast<int>(input));
    }
  }
  return pairs;
}

/// Images of int64 are in plain layout.
bool has_int64_image(const Node& node) {
  const auto is_one = [](const TensorSpec& spec) {
    return spec.dtype == DType::kInt64 && spec.shape.rank() == 4;
  };
  return std::any_of(node.outputs.begin(), node.outputs.end(), is_one) ||
         std::any_of(node.inputs.begin(), node.inputs.end(),
                     [&](const Symbol& input) { return is_one(input.spec()); });
}

bool sweep_accepts(const Node& node, Layout layout) {
  if (has_int64_image(node)) return layout == Layout::kPlain;
  return layout != Layout::kBlocked || fits_blocks(*op_cast<Sweep>(node), node);
}

PreparedKernel prepare_sweep(const KernelRequest& request) {
  const Sweep& op = *op_cast<Sweep>(request.node);
  Layout layout = op.shape().rank() == 4 ? request.layout : Layout::kPlain;
  if (!sweep_accepts(request.node, layout))
    layout = has_int64_image(request.node) ? Layout::kPlain : Layout::kNhwc;
  auto kernel = std::make_unique<SweepKernel>(op, request.node, layout, request.pieces);
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

const KernelRegistration kSweep("Sweep", prepare_sweep, LayoutRule::kAgnostic, sweep_accepts,
                                {.int64 = true, .half = true});

}  // namespace
}  // namespace tpack::cpu
