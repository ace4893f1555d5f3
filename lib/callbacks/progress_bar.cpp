#include <algorithm>
#include <array>
#include <span>
#include <unistd.h>

#include "callbacks/moving_mean.h"
#include "callbacks/progress_line.h"
#include "core/clock.h"
#include "system/log.h"
#include "system/terminal.h"
#include "train/callback.h"

namespace tpack {
namespace {

constexpr double kDecay = 0.95;
constexpr double kRedrawS = 0.2;  // on a terminal
constexpr double kLineS = 30;     // elsewhere

struct ProgressBarParams {
  Ref<Stat> name;
};

/// Source: tensorpack callbacks/steps.py, ProgressBar.
class ProgressBar final : public Callback {
 public:
  using Params = ProgressBarParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Shows the progress of the epoch on stderr: a line that is redrawn on a terminal, otherwise a "
               "line every 30 s.")
        .example("ProgressBar: {name: cost}")
        .field("name", &Params::name,
               "statistic of the training step to show as a moving mean; default: all of them");
  }
  explicit ProgressBar(Params p) : p_(std::move(p)) {}

  void setup(Setup& setup) override {
    for (const StepStatistic& statistic : setup.run().part<StepStatistics>().statistics())
      names_.push_back(statistic.name);
    if (!p_.name.empty()) names_ = {p_.name.name};
    for (const std::string& name : names_) {
      statistics_.push_back(setup.statistic({name, p_.name.position}));
      values_.push_back({name.c_str(), 0});
    }
    means_ = MovingMean(kDecay, statistics_.size());
  }
  void before_train(Run& /*run*/) override { on_terminal_ = ::isatty(STDERR_FILENO) == 1; }
  void before_epoch(Run& run) override {
    epoch_watch_.reset();
    print_watch_.reset();
    first_step_ = run.local_step() + 1;
    print(run);
  }
  void after_run(Run& run) override {
    means_.update([&](size_t i) { return run.statistic(statistics_[i]); });
    if (print_watch_.seconds() < (on_terminal_ ? kRedrawS : kLineS)) return;
    print_watch_.reset();
    print(run);
  }
  void after_epoch(Run& run) override {
    if (!on_terminal_) return;
    print(run);
    log::end_redrawn();
  }

 private:
  void print(const Run& run) {
    if (!on_terminal_ && run.local_step() + 1 == first_step_) return;
    Progress progress;
    progress.epoch = run.epoch();
    progress.steps = run.local_step() + 1;
    progress.total_steps = run.length().steps_per_epoch;
    const double seconds = epoch_watch_.seconds();
    if (seconds > 0) progress.rate = static_cast<double>(progress.steps - first_step_) / seconds;
    size_t shown = 0;
    for (size_t i = 0; i < means_.size(); ++i) {
      if (means_.has_value(i)) values_[shown++] = {names_[i].c_str(), means_.value(i)};
    }
    progress.values = std::span(values_).first(shown);
    std::array<char, 512> buffer{};
    if (!on_terminal_) return log::info(std::string(progress_line(progress, buffer)));
    const auto columns = static_cast<size_t>(terminal_size(STDERR_FILENO).columns);
    log::redraw(progress_line(progress, std::span(buffer).first(std::min(columns, buffer.size()))));
  }

  Params p_;
  bool on_terminal_ = false;
  std::vector<std::string> names_;
  std::vector<size_t> statistics_;     // numbers of `names_`
  std::vector<ProgressValue> values_;  // that are shown
  MovingMean means_;
  Stopwatch epoch_watch_;
  Stopwatch print_watch_;
  int64_t first_step_ = 0;  // of this epoch, by this process
};

TPACK_REGISTER(Callback, ProgressBar, "ProgressBar");

}  // namespace
}  // namespace tpack
