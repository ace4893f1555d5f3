#include "cpu/sweep/sweep_code.h"

#include <algorithm>
#include <bit>
#include <utility>

#if defined(__x86_64__)
#include "cpu/sweep/vector_instructions.h"
#endif

namespace tpack::cpu {
#if defined(__x86_64__)
namespace {

using pointwise::Expression;
using pointwise::Fn;
using pointwise::Instruction;
using Xbyak::Label;
using Xbyak::Reg64;

/// Which vector registers hold which values of an expression.
struct Allocation {
  std::vector<int> slot;     // by register of the expression; that of a pinned value is its place among them
  std::vector<bool> pinned;  // constants, uniform inputs, and rows of one vector: loaded once
  std::vector<std::vector<int>> ends;  // by instruction: values that are read there for the last time
  int slots = 0;
  int pins = 0;
};

/// A sink takes a value where it is computed, so a value need not live on for that.
Allocation allocate(const Expression& e, std::span<const SweepSource> sources, bool rows_pinned) {
  Allocation a;
  const size_t count = e.code.size();
  a.slot.assign(count, -1);
  a.pinned.assign(count, false);
  a.ends.resize(count);
  std::vector<size_t> last_use(count);
  for (size_t i = 0; i < count; ++i) {
    last_use[i] = i;
    const Instruction& instruction = e.code[i];
    if (instruction.fn == Fn::kInput) {
      const SweepSource::Walk walk = sources[static_cast<size_t>(instruction.args[0])].walk;
      a.pinned[i] = walk == SweepSource::Walk::kUniform || (walk == SweepSource::Walk::kRow && rows_pinned);
      continue;
    }
    a.pinned[i] = instruction.fn == Fn::kConstant;
    for (const int argument : instruction.args) {
      if (argument >= 0) last_use[static_cast<size_t>(argument)] = i;
    }
  }
  for (size_t i = 0; i < count; ++i) {
    if (!a.pinned[i]) a.ends[last_use[i]].push_back(static_cast<int>(i));
  }
  std::vector<int> free;
  for (size_t i = 0; i < count; ++i) {
    if (a.pinned[i]) {
      a.slot[i] = a.pins++;
      continue;
    }
    if (free.empty()) free.push_back(a.slots++);
    a.slot[i] = free.back();
    free.pop_back();
    for (const int ended : a.ends[i]) free.push_back(a.slot[static_cast<size_t>(ended)]);
  }
  return a;
}

/// Emits the code with vectors of type V (Zmm or Ymm) and, for the last elements, one element at a time.
template <class V>
class Generator final : private Xbyak::CodeGenerator, public SweepCode {
  using Simd = VectorInstructions<V>;
  static constexpr int kLanes = Simd::kLanes;
  static constexpr int kMaxUnrolled = 4;
  static constexpr size_t kCodeBytes = 4096;  // at first

 public:
  static std::unique_ptr<const SweepCode> make(const Expression& e, std::span<const SweepSource> sources,
                                               std::span<const SweepSink> sinks, int64_t columns) {
    const bool rows_pinned = columns == kLanes;
    Allocation a = allocate(e, sources, rows_pinned);
    const int room = Simd::kFree - a.pins;
    if (a.slots == 0 || room < a.slots) return nullptr;
    const int unrolled = std::min(kMaxUnrolled, room / a.slots);
    return std::unique_ptr<const SweepCode>(
        new Generator(e, sources, sinks, std::move(a), rows_pinned, unrolled));
  }

  void run(const Operands& operands) const override { function_(&operands); }

 private:
  Generator(Expression e, std::span<const SweepSource> sources, std::span<const SweepSink> sinks,
            Allocation a, bool rows_pinned, int unrolled)
      : Xbyak::CodeGenerator(kCodeBytes, Xbyak::AutoGrow),
        e_(std::move(e)),
        sources_(sources.begin(), sources.end()),
        sinks_(sinks.begin(), sinks.end()),
        a_(std::move(a)),
        rows_pinned_(rows_pinned) {
    emit(unrolled);
    ready(Xbyak::CodeArray::PROTECT_RE);
    function_ = getCode<void (*)(const Operands*)>();
  }

  /// The register of a value in copy `u` of the loop's body.
  V reg(int value, int u) const {
    const auto v = static_cast<size_t>(value);
    const int first = Simd::kFirstFree + a_.slot[v];
    return V(a_.pinned[v] ? first : first + a_.pins + u * a_.slots);
  }

  // --- the whole

  void emit(int unrolled) {
    const std::array<Reg64, 6> saved = {rbx, rbp, r12, r13, r14, r15};
    for (const Reg64& r : saved) push(r);
    load_constants();
    load_pointers();
    mov(rsi, ptr[rdi + static_cast<int>(offsetof(Operands, columns))]);
    mov(r15, ptr[rdi + static_cast<int>(offsetof(Operands, rows))]);
    if (rows_pinned_) {  // one run of elements
      imul(rsi, r15);
      mov(r15, 1);
    }
    xor_(rdx, rdx);
    Label row;
    L(row);
    xor_(rcx, rcx);
    loop(unrolled, kLanes);
    if (unrolled > 1) loop(1, kLanes);
    if (!rows_pinned_) loop(1, 1);
    sub(r15, 1);
    jg(row, T_NEAR);
    vzeroupper();
    for (size_t i = saved.size(); i-- > 0;) pop(saved[i]);
    ret();
    emit_data();
  }

  /// Works on as many elements of a row as whole rounds allow. rdx: number of the element; rcx: of its
  /// column.
  void loop(int unrolled, int lanes) {
    Label next;
    Label end;
    L(next);
    const auto columns = static_cast<uint32_t>(unrolled * lanes);
    lea(rax, ptr[rcx + columns]);
    cmp(rax, rsi);
    jg(end, T_NEAR);
    body(unrolled, lanes);
    add(rdx, columns);
    add(rcx, columns);
    jmp(next, T_NEAR);
    L(end);
  }

  void body(int unrolled, int lanes) {
    for (size_t i = 0; i < e_.code.size(); ++i) {
      if (!a_.pinned[i]) compute(i, unrolled, lanes);
      for (size_t k = 0; k < sinks_.size(); ++k) {
        if (sinks_[k].value == static_cast<int>(i)) sink(sinks_[k], sources_.size() + k, unrolled, lanes);
      }
    }
  }

  // --- constants, pinned values and pointers

  void load_constants() {
    broadcast_number(Simd::constant(Simd::kOne), 1.0F);
    broadcast_number(Simd::constant(Simd::kSign), -0.0F);
    for (size_t i = 0; i < e_.code.size(); ++i) {
      if (!a_.pinned[i]) continue;
      if (e_.code[i].fn == Fn::kConstant) {
        broadcast_number(reg(static_cast<int>(i), 0), static_cast<float>(e_.code[i].value));
      } else {
        mov(rax, ptr[rdi + source_offset(static_cast<size_t>(e_.code[i].args[0]))]);
        const SweepSource& source = sources_[static_cast<size_t>(e_.code[i].args[0])];
        const V to = reg(static_cast<int>(i), 0);
        if (source.walk == SweepSource::Walk::kRow) {
          simd_.load(source.type, to, rax, kLanes);
        } else {
          vbroadcastss(to, ptr[rax]);
        }
      }
    }
  }
  void broadcast_number(const V& to, float value) {
    numbers_.emplace_back(std::make_unique<Label>(), std::bit_cast<uint32_t>(value));
    vbroadcastss(to, ptr[rip + *numbers_.back().first]);
  }
  void emit_data() {
    align(4);
    for (const auto& [label, bits] : numbers_) {
      L(*label);
      dd(bits);
    }
  }

  static size_t source_offset(size_t i) { return offsetof(Operands, sources) + i * sizeof(std::byte*); }
  static size_t sink_offset(size_t i) { return offsetof(Operands, sinks) + i * sizeof(std::byte*); }
  /// The first ones have a register; the others are read again for each use.
  void load_pointers() {
    for (size_t i = 0; i < sources_.size() + sinks_.size(); ++i) {
      if (i < kPointers.size()) mov(Reg64(kPointers[i]), ptr[rdi + offset_of(i)]);
    }
  }
  size_t offset_of(size_t operand) const {
    return operand < sources_.size() ? source_offset(operand) : sink_offset(operand - sources_.size());
  }
  Reg64 pointer(size_t operand) {
    if (operand < kPointers.size()) return Reg64(kPointers[operand]);
    mov(rax, ptr[rdi + offset_of(operand)]);
    return rax;
  }
  static constexpr std::array kPointers = {Xbyak::Operand::RBX, Xbyak::Operand::RBP, Xbyak::Operand::R8,
                                           Xbyak::Operand::R9,  Xbyak::Operand::R10, Xbyak::Operand::R11,
                                           Xbyak::Operand::R12, Xbyak::Operand::R13, Xbyak::Operand::R14};

  // --- memory

  static Xbyak::RegExp at(const Reg64& base, const Reg64& index, DType type, int u, int lanes) {
    const size_t width = size_of(type);
    return base + index * static_cast<int>(width) + static_cast<size_t>(u * lanes) * width;
  }

  void load(size_t i, int unrolled, int lanes) {
    const auto input = static_cast<size_t>(e_.code[i].args[0]);
    const SweepSource& source = sources_[input];
    const Reg64 index = source.walk == SweepSource::Walk::kRow ? rcx : rdx;
    const Reg64 base = pointer(input);
    for (int u = 0; u < unrolled; ++u)
      simd_.load(source.type, reg(static_cast<int>(i), u), at(base, index, source.type, u, lanes), lanes);
  }
  void sink(const SweepSink& s, size_t operand, int unrolled, int lanes) {
    const Reg64 base = pointer(operand);
    for (int u = 0; u < unrolled; ++u) {
      const Xbyak::RegExp to = at(base, rdx, s.type, u, lanes);
      if (s.kind == SweepSink::Kind::kAdd) {
        simd_.add_to(reg(s.value, u), to, lanes);
      } else {
        simd_.store(s.type, reg(s.value, u), to, lanes);
      }
    }
  }

  void compute(size_t i, int unrolled, int lanes) {
    const Instruction& instruction = e_.code[i];
    if (instruction.fn == Fn::kInput) return load(i, unrolled, lanes);
    for (int u = 0; u < unrolled; ++u) {
      const auto argument = [&](size_t k) {
        const int value = instruction.args[k];
        return value < 0 ? Simd::scratch(0) : reg(value, u);
      };
      simd_.apply(instruction.fn, reg(static_cast<int>(i), u), argument(0), argument(1), argument(2));
    }
  }

  Simd simd_{*this};
  Expression e_;
  std::vector<SweepSource> sources_;
  std::vector<SweepSink> sinks_;
  Allocation a_;
  bool rows_pinned_;
  std::vector<std::pair<std::unique_ptr<Label>, uint32_t>> numbers_;
  void (*function_)(const Operands*) = nullptr;
};

}  // namespace

std::unique_ptr<const SweepCode> SweepCode::make(const Expression& expression,
                                                 std::span<const SweepSource> sources,
                                                 std::span<const SweepSink> sinks, int64_t columns,
                                                 Instructions instructions) {
  using Xbyak::util::Cpu;
  const bool fits =
      sources.size() <= kMaxOperands && sinks.size() <= kMaxOperands &&
      std::ranges::all_of(expression.code, [](const Instruction& i) {
        return i.fn == Fn::kInput || i.fn == Fn::kConstant || VectorInstructions<Xbyak::Ymm>::has(i.fn);
      });
  if (!fits || !processor().has(Cpu::tAVX2)) return nullptr;
  const bool has_512 = processor().has(Cpu::tAVX512F) && processor().has(Cpu::tAVX512BW) &&
                       processor().has(Cpu::tAVX512DQ) && processor().has(Cpu::tAVX512VL);
  try {
    if (has_512 && instructions == Instructions::kBest)
      return Generator<Xbyak::Zmm>::make(expression, sources, sinks, columns);
    return Generator<Xbyak::Ymm>::make(expression, sources, sinks, columns);
  } catch (const Xbyak::Error&) {
    return nullptr;  // memory for code is not to be had
  }
}
#else
std::unique_ptr<const SweepCode> SweepCode::make(const pointwise::Expression& /*expression*/,
                                                 std::span<const SweepSource> /*sources*/,
                                                 std::span<const SweepSink> /*sinks*/, int64_t /*columns*/,
                                                 Instructions /*instructions*/) {
  return nullptr;
}
#endif

}  // namespace tpack::cpu
