#include "backend/engine/executable.h"

#include <algorithm>

#include "backend/passes/memory.h"
#include "core/clock.h"
#include "core/text.h"
#include "system/log.h"

namespace tpack {
namespace {

using Place = Value::Place;

/// Where in the arena things are.
struct ArenaPlan {
  uint64_t bytes = 0;
  uint64_t constant_bytes = 0;
  std::vector<uint64_t> offsets;          // by value; of constants, in a block of their own
  std::vector<uint64_t> scratch_offsets;  // by step
};

/// Lifetimes of the arena's values and of each step's scratch, placed.
ArenaPlan plan_arena(const LoweredProgram& program) {
  std::vector<Lifetime> lives;
  std::vector<int> life_of(program.values.size(), -1);
  const auto touch = [&](int value, int step) {
    const int owner = program.owner(value);
    const Value& whole = program.values[static_cast<size_t>(owner)];
    if (whole.place != Place::kArena) return;
    int& life = life_of[static_cast<size_t>(owner)];
    if (life < 0) {
      life = static_cast<int>(lives.size());
      lives.push_back({0, step, step});
    }
    lives[static_cast<size_t>(life)].last = step;
    // Values that share memory may differ in size: a reshaped view, say.
    uint64_t& bytes = lives[static_cast<size_t>(life)].bytes;
    const Value& part = program.values[static_cast<size_t>(value)];
    bytes = std::max({bytes, part.begin + part.format.bytes(), whole.format.bytes()});
  };
  std::vector<int> scratch_life;
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const int step = static_cast<int>(i);
    for (const int value : program.steps[i].in) touch(value, step);
    for (const int value : program.steps[i].out) touch(value, step);
    scratch_life.push_back(static_cast<int>(lives.size()));
    lives.push_back({program.steps[i].scratch_bytes, step, step});
  }
  const MemoryPlan memory = plan_memory(lives);
  ArenaPlan plan{.bytes = memory.bytes, .constant_bytes = 0, .offsets = {}, .scratch_offsets = {}};
  plan.offsets.assign(program.values.size(), 0);
  for (size_t v = 0; v < program.values.size(); ++v) {
    const int life = life_of[static_cast<size_t>(program.owner(static_cast<int>(v)))];
    if (life >= 0) plan.offsets[v] = memory.offsets[static_cast<size_t>(life)];
    if (program.values[v].place != Place::kConstant || program.values[v].same_as >= 0) continue;
    plan.offsets[v] = plan.constant_bytes;
    plan.constant_bytes += aligned(program.values[v].format.bytes());
  }
  for (const int life : scratch_life)
    plan.scratch_offsets.push_back(memory.offsets[static_cast<size_t>(life)]);
  return plan;
}

[[noreturn]] void reject_program(const ResourceError& error) {
  throw ResourceError(std::string("a program needs more memory than there is: ") + error.what() +
                      "; use a smaller batch_size");
}

class EngineExecutable final : public Executable {
 public:
  EngineExecutable(LoweredProgram program, VariableStore& store, std::shared_ptr<Arena> arena,
                   std::shared_ptr<KernelQueue> queue)
      : program_(std::move(program)),
        plan_(plan_arena(program_)),
        store_(store),
        arena_(std::move(arena)),
        queue_(std::move(queue)),
        on_host_(arena_->on_host()) {
    for (const TensorSpec& spec : program_.fetches) {
      fetched_.emplace_back(spec);
      targets_.push_back(on_host_ ? fetched_.back() : in_memory(spec));
    }
    is_copied_.assign(fetched_.size(), false);
    report_.arena_bytes = plan_.bytes;
    {
      const std::lock_guard lock(arena_->in_use);
      queue_->wait();
      arena_->reserve(report_.arena_bytes);
    }
    for (const Tensor& tensor : fetched_) report_.constant_bytes += tensor.bytes();
    report_.constant_bytes += plan_.constant_bytes;
    constants_ = arena_->memory.allocate_zeros(std::max<size_t>(plan_.constant_bytes, 1));
    for (const Step& step : program_.steps) {
      for (const int out : step.out)
        assigns_ =
            assigns_ || program_.values[static_cast<size_t>(program_.owner(out))].place == Place::kVariable;
    }
    report_.kernels = static_cast<int>(program_.steps.size());
    report_.reorders = program_.reorders;
    report_.types = program_.types;
    for (const Step& step : program_.steps) report_.flops += step.flops;
    for (std::vector<double>* times : {&seconds_, &began_s_, &last_s_}) times->resize(program_.steps.size());
  }

  ~EngineExecutable() override {
    try {
      queue_->wait();  // for kernels of this program
    } catch (const std::exception& error) {
      log::warning(std::string("a run that nobody waited for has failed: ") + error.what());
    }
  }

  void run(std::span<const Tensor> inputs, const RunInfo& info) override {
    TPACK_ASSERT(inputs.size() == static_cast<size_t>(program_.inputs), "a program of other inputs");
    const std::lock_guard lock(arena_->in_use);
    if (generation_ != arena_->generation) bind();
    if (!on_host_) copy_in(inputs);
    for (const InputUse& use : input_uses_)
      calls_[use.step].in[use.operand] =
          (on_host_ ? inputs[use.input] : inputs_[use.input]).address() + use.begin;
    queue_->submit([this, &info] { run_steps(info); });
    if (!on_host_) is_copied_.assign(fetched_.size(), false);
  }

  const Tensor& fetched(size_t i) const override {
    if (on_host_ || is_copied_[i]) return fetched_[i];
    queue_->wait();
    arena_->memory.read(fetched_[i].raw(), targets_[i].address(), fetched_[i].bytes());
    is_copied_[i] = true;
    return fetched_[i];
  }
  const CompileReport& report() const override { return report_; }
  void watch(const AssignmentWatch* watch) override {
    watch_ = watch;
    last_steps_.clear();
    size_t last = 0;
    if (watch == nullptr) return;
    for (const std::vector<std::string>& set : watch->sets) {
      for (const std::string& name : set) last = std::max(last, last_step_of(name));
      last_steps_.push_back(last);
    }
  }
  void profile(bool on) override { profiling_ = on; }
  void check_kernels(bool on) { checking_ = on; }
  std::vector<NodeTime> times() const override {
    std::vector<NodeTime> all;
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      const Step& step = program_.steps[i];
      all.push_back(
          {step.path, step.kind, runs_, seconds_[i], step.flops, bytes_of(step), began_s_[i], last_s_[i]});
    }
    return all;
  }

 private:
  double bytes_of(const Step& step) const {
    uint64_t bytes = 0;
    for (const std::vector<int>* values : {&step.in, &step.out})
      for (const int value : *values) bytes += program_.values[static_cast<size_t>(value)].format.bytes();
    return static_cast<double>(bytes);
  }
  void run_steps(const RunInfo& info) {
    size_t reached = 0;
    if (profiling_) ++runs_;
    const bool has_constants = known_version_ == store_.version();
    known_version_ = store_.version();
    for (size_t i = 0; i < calls_.size(); ++i) {
      if (has_constants && program_.steps[i].is_constant) continue;
      if (profiling_) began_s_[i] = monotonic_s();
      program_.steps[i].kernel->run({calls_[i].in, calls_[i].out, calls_[i].scratch, &info, queue_.get()});
      if (profiling_) {
        queue_->wait();
        last_s_[i] = monotonic_s() - began_s_[i];
        seconds_[i] += last_s_[i];
      }
      if (checking_) check_padding(i);
      for (; reached < last_steps_.size() && last_steps_[reached] <= i; ++reached) tell(reached);
    }
    for (; reached < last_steps_.size(); ++reached) tell(reached);  // of a program without steps
    if (assigns_) store_.note_change();
  }
  void tell(size_t set) {
    queue_->wait();
    watch_->reached(set);
  }

  Tensor in_memory(const TensorSpec& spec) const {
    return {spec, arena_->memory.allocate_zeros(static_cast<size_t>(std::max<int64_t>(spec.bytes(), 1)))};
  }
  void copy_in(std::span<const Tensor> inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs_.size() == i) inputs_.push_back(in_memory(inputs[i].spec()));
      arena_->memory.write(inputs_[i].address(), inputs[i].raw(), inputs[i].bytes());
    }
  }

  struct Call {
    std::vector<std::byte*> in;
    std::vector<std::byte*> out;
    std::byte* scratch = nullptr;
  };
  struct InputUse {
    size_t step;
    size_t operand;
    size_t input;
    uint64_t begin;  // bytes of the input before what is used
  };

  /// Errors: InternalError where a kernel left something in the channels that fill up the last block.
  void check_padding(size_t i) const {
    const Step& step = program_.steps[i];
    for (size_t k = 0; k < step.out.size(); ++k) {
      const Format& format = program_.values[static_cast<size_t>(step.out[k])].format;
      const auto dims = format.sizes.sizes();
      const bool summed = is_float(format.type);  // unlike masks and indices
      if (format.layout != Layout::kBlocked || !summed || dims[1] % kBlockChannels == 0) continue;
      const int64_t blocks = dims[1] / kBlockChannels + 1;
      const int64_t plane = dims[2] * dims[3] * kBlockChannels;
      for (int64_t image = 0; image < dims[0]; ++image) {
        const int64_t last = (image * blocks + blocks - 1) * plane;
        for (int64_t pixel = last; pixel < last + plane; pixel += kBlockChannels) {
          const bool clean = visit_any(format.type, [&](auto zero) {
            const auto* at = reinterpret_cast<const decltype(zero)*>(calls_[i].out[k]) + pixel;
            return std::all_of(at + dims[1] % kBlockChannels, at + kBlockChannels,
                               [](auto x) { return static_cast<double>(x) == 0; });
          });
          TPACK_ASSERT(clean, step.path + " (" + step.kind + ") left values in padding channels");
        }
      }
    }
  }

  /// The last step that writes a variable.
  size_t last_step_of(const std::string& variable) const {
    size_t last = 0;
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      for (const int out : program_.steps[i].out) {
        const Value& owner = program_.values[static_cast<size_t>(program_.owner(out))];
        if (owner.place == Place::kVariable && owner.name == variable) last = i;
      }
    }
    return last;
  }

  std::byte* address(int value) {
    const Value& v = program_.values[static_cast<size_t>(program_.owner(value))];
    const uint64_t begin = program_.values[static_cast<size_t>(value)].begin;
    switch (v.place) {
      case Place::kArena:
        return arena_->block->address() + plan_.offsets[static_cast<size_t>(value)] + begin;
      case Place::kConstant: {
        const auto owner = static_cast<size_t>(program_.owner(value));
        return constants_->address() + plan_.offsets[owner] + begin;
      }
      case Place::kVariable:
        return store_.tensor(v.name).address() + begin;
      case Place::kFetch:
        return targets_[static_cast<size_t>(v.index)].address() + begin;
      case Place::kInput:
        return nullptr;  // set at each run
    }
    return nullptr;
  }

  void bind() {
    arena_->reserve(report_.arena_bytes);  // nothing is there after a reservation that failed
    calls_.clear();
    input_uses_.clear();
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      const Step& step = program_.steps[i];
      Call call;
      for (size_t k = 0; k < step.in.size(); ++k) {
        const Value& owner = program_.values[static_cast<size_t>(program_.owner(step.in[k]))];
        const uint64_t begin = program_.values[static_cast<size_t>(step.in[k])].begin;
        if (owner.place == Place::kInput)
          input_uses_.push_back({i, k, static_cast<size_t>(owner.index), begin});
        call.in.push_back(address(step.in[k]));
      }
      for (const int value : step.out) call.out.push_back(address(value));
      call.scratch = arena_->block->address() + plan_.scratch_offsets[i];
      calls_.push_back(std::move(call));
    }
    generation_ = arena_->generation;
  }

  LoweredProgram program_;
  ArenaPlan plan_;
  VariableStore& store_;
  std::shared_ptr<Arena> arena_;
  std::shared_ptr<KernelQueue> queue_;
  std::shared_ptr<Storage> constants_;
  std::optional<uint64_t> known_version_;  // of the variables from which they were computed
  bool assigns_ = false;
  bool on_host_;  // where kernels work
  CompileReport report_;
  std::vector<Tensor> fetched_;          // on the host
  std::vector<Tensor> targets_;          // of the kernels: the same, or in the memory of the device
  mutable std::vector<bool> is_copied_;  // by fetch: what the last run gave, to the host
  std::vector<Tensor> inputs_;           // in the memory of the device, if that is another one
  std::vector<Call> calls_;
  std::vector<InputUse> input_uses_;
  int runs_ = 0;                 // that were profiled
  std::vector<double> seconds_;  // by step, as the next two
  std::vector<double> began_s_;
  std::vector<double> last_s_;
  int generation_ = -1;
  bool profiling_ = false;
  bool checking_ = false;
  const AssignmentWatch* watch_ = nullptr;
  std::vector<size_t> last_steps_;  // by set of the watch, never less than that of the set before
};

}  // namespace

void Arena::reserve(uint64_t bytes) {
  if (block && block->bytes() >= bytes) return;
  reject_above_limit(bytes);
  ++generation;
  block.reset();  // the old block goes before the new one comes
  const uint64_t wanted = std::max<uint64_t>(bytes, 64);
  try {
    block = on_host() ? Storage::allocate(wanted) : memory.allocate_zeros(wanted);
  } catch (const ResourceError& error) {
    reject_program(error);
  }
}

void Arena::reject_above_limit(uint64_t bytes) const {
  if (limit == 0 || bytes <= limit) return;
  throw ResourceError(
      "activations of " + human_bytes(bytes) + " are more than the " + human_bytes(limit) +
      " that engine.memory_mb leaves for them next to the variables; use a smaller batch_size, "
      "or engine.recompute: true");
}

void Arena::require_room(uint64_t bytes) const {
  reject_above_limit(bytes);
  if (!on_host()) return;
  const uint64_t own = block ? block->bytes() : 0;  // goes before a larger block comes
  try {
    if (bytes > own) require_memory(bytes - own);
  } catch (const ResourceError& error) {
    reject_program(error);
  }
}

uint64_t arena_bytes_of(const LoweredProgram& program) { return plan_arena(program).bytes; }

std::unique_ptr<Executable> make_executable(LoweredProgram program, VariableStore& store,
                                            std::shared_ptr<Arena> arena, std::shared_ptr<KernelQueue> queue,
                                            bool check_kernels) {
  auto executable =
      std::make_unique<EngineExecutable>(std::move(program), store, std::move(arena), std::move(queue));
  executable->check_kernels(check_kernels);
  return executable;
}

}  // namespace tpack
