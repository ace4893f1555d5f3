#include <algorithm>
#include <array>
#include <optional>
#include <unistd.h>

#include "callbacks/moving_mean.h"
#include "callbacks/progress_line.h"
#include "core/clock.h"
#include "core/log.h"
#include "train/callback.h"

namespace tpack {
namespace {

constexpr double kRedrawS = 0.2;  // on a terminal
constexpr double kLineS = 30;     // elsewhere

struct ProgressBarParams {
  Ref<Stat> name = {"cost"};
};

void write_to_stderr(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
    if (n <= 0) return;  // nobody reads: no reason to end a run
    text.remove_prefix(static_cast<size_t>(n));
  }
}

/// Source: tensorpack callbacks/steps.py, ProgressBar.
class ProgressBar final : public Callback {
 public:
  using Params = ProgressBarParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Shows on stderr how far the epoch is: a line that is redrawn on a terminal, one every 30 s "
               "elsewhere.")
        .field("name", &Params::name,
               "statistic of the training step whose moving mean is shown; left out where there is none");
  }
  explicit ProgressBar(Params p) : p_(std::move(p)) {}

  void setup(Setup& setup) override {
    const bool by_default = !p_.name.position.known();
    const std::vector<std::string> names = setup.statistics();
    const bool there = std::find(names.begin(), names.end(), p_.name.name) != names.end();
    if (there || !by_default) statistic_ = setup.statistic(p_.name);
  }
  void before_train(Run& /*run*/) override { on_terminal_ = ::isatty(STDERR_FILENO) == 1; }
  void before_epoch(Run& run) override {
    epoch_watch_.reset();
    print_watch_.reset();
    first_step_ = run.local_step() + 1;
    print(run);
  }
  void after_run(Run& run) override {
    if (statistic_) mean_.update([&](size_t /*i*/) { return run.statistic(*statistic_); });
    if (print_watch_.seconds() < (on_terminal_ ? kRedrawS : kLineS)) return;
    print_watch_.reset();
    print(run);
  }
  void after_epoch(Run& run) override {
    if (!on_terminal_) return;
    print(run);
    write_to_stderr("\n");
  }

 private:
  void print(const Run& run) const {
    if (!on_terminal_ && run.local_step() + 1 == first_step_) return;
    Progress progress;
    progress.epoch = run.epoch();
    progress.steps = run.local_step() + 1;
    progress.total_steps = run.length().steps_per_epoch;
    const double seconds = epoch_watch_.seconds();
    if (seconds > 0) progress.rate = static_cast<double>(progress.steps - first_step_) / seconds;
    if (statistic_ && !mean_.empty()) {
      progress.name = p_.name.name.c_str();
      progress.value = mean_.value(0);
    }
    std::array<char, 256> buffer{};
    const std::string_view line = progress_line(progress, buffer);
    if (!on_terminal_) return log::info(std::string(line));
    write_to_stderr("\r");
    write_to_stderr(line);
    write_to_stderr("\033[K");
  }

  Params p_;
  bool on_terminal_ = false;
  std::optional<size_t> statistic_;
  MovingMean mean_{0.95, 1};
  Stopwatch epoch_watch_;
  Stopwatch print_watch_;
  int64_t first_step_ = 0;  // of this epoch, by this process
};

TPACK_REGISTER(Callback, ProgressBar, "ProgressBar");

}  // namespace
}  // namespace tpack
