#include "reports/bench.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include <nlohmann/json.hpp>

#include "agents/agent_source.h"
#include "comm/fixed_order_sum.h"
#include "comm/self_comm.h"
#include "core/clock.h"
#include "core/text.h"
#include "draw/figures.h"
#include "draw/text_table.h"
#include "experiment/check.h"
#include "parallel/gradient_buckets.h"
#include "run/precision_times.h"
#include "system/file_io.h"
#include "system/machine.h"
#include "train/step_trace.h"

namespace tpack {
namespace {

enum class Middle : uint8_t {
  kMedian,
  kMean  // for bursts: workers prepare batches in advance
};

/// Measures the time of `step`, which returns its number of samples, after a warm-up.
BenchFigure timed(const BenchOptions& options, Middle of, const std::function<int64_t()>& step) {
  for (int i = 0; i < options.warm_up; ++i) step();
  std::vector<double> times;
  int64_t samples = 0;
  for (int i = 0; i < options.steps; ++i) {
    const Stopwatch watch;
    samples += step();
    times.push_back(watch.seconds());
  }
  const double mean = std::accumulate(times.begin(), times.end(), 0.0) / options.steps;
  const double seconds = of == Middle::kMean ? mean : median(std::move(times));
  return {seconds, static_cast<double>(samples) / options.steps / seconds};
}

std::string percent(double share) { return fixed(100 * share, 1) + " %"; }

template <class T>
void sort_by_time(std::vector<T>& all) {
  std::sort(all.begin(), all.end(), [](const T& a, const T& b) { return a.cost.seconds > b.cost.seconds; });
}

std::vector<NodeKindTime> by_kind(const std::vector<NodeCost>& nodes) {
  std::map<std::pair<std::string, std::string>, NodeKindTime> kinds;
  for (const NodeCost& node : nodes) {
    NodeKindTime& kind = kinds[{node.program, node.kind}];
    kind.program = node.program;
    kind.kind = node.kind;
    ++kind.nodes;
    kind.cost.add(node.cost);
  }
  std::vector<NodeKindTime> all;
  for (auto& [key, kind] : kinds) all.push_back(std::move(kind));
  sort_by_time(all);
  return all;
}

/// Tells the trainer's readers to return the same batch again.
struct Held {
  bool on = false;
};

/// A reader that can repeat its batch.
class HoldingReader final : public InputReader {
 public:
  HoldingReader(std::unique_ptr<InputReader> inner, const Held& held)
      : inner_(std::move(inner)), held_(held) {}
  bool next(const std::stop_token& stop) override {
    return (held_.on && begun_) || (begun_ = inner_->next(stop));
  }
  std::span<const Tensor> tensors() const override { return inner_->tensors(); }
  DataPosition position() const override { return inner_->position(); }
  double waited_s() const override { return inner_->waited_s(); }
  std::optional<InputQueue> queue() const override { return inner_->queue(); }

 private:
  std::unique_ptr<InputReader> inner_;
  const Held& held_;
  bool begun_ = false;
};

/// The experiment's input with readers that can repeat a batch.
class HoldingInput final : public InputSource {
 public:
  HoldingInput(const InputSource& inner, const Held& held) : inner_(inner), held_(held) {}
  std::unique_ptr<InputReader> open(const InputSetup& setup) const override {
    opened_ = true;
    return std::make_unique<HoldingReader>(inner_.open(setup), held_);
  }
  int64_t batches_in_memory(const FlowSettings& settings) const override {
    return inner_.batches_in_memory(settings);
  }
  /// False if the trainer reads its data in a different way.
  bool opened() const { return opened_; }

 private:
  const InputSource& inner_;
  const Held& held_;
  mutable bool opened_ = false;
};

void set_limit(KernelCost& cost, const MachineLimits& limits) {
  const double arithmetic_s = cost.flops / limits.flops_per_s;
  const double memory_s = cost.bytes / limits.bytes_per_s;
  (arithmetic_s > memory_s ? cost.arithmetic_s : cost.memory_s) = std::max(arithmetic_s, memory_s);
}

BenchFigure time_data(const DataFlow& flow, int64_t seed, const BenchOptions& options) {
  auto stream = flow.stream({.seed = static_cast<uint64_t>(seed)});
  const bool has_batches = flow.batch_size().has_value();
  return timed(options, Middle::kMean, [&]() -> int64_t {
    const auto item = stream->next();
    return !item ? 0 : has_batches ? item->tensor(0).shape()[0] : 1;
  });
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Common parts of the measurements.
class Bench {
 public:
  Bench(Experiment& experiment, const BenchOptions& options)
      : e_(experiment), options_(options), input_(*experiment.input, held_) {
    e_.require_for_training();
    prepare(e_.flows);
    set_up_trainer(e_, plan_, *world_, &input_);
    e_.trainer->initialize();
    const std::vector<StepStatistic> statistics = e_.trainer->part<StepStatistics>().statistics();
    for (size_t i = 0; i < statistics.size() && !figure_; ++i)
      if (statistics[i].minimized) figure_ = i;
  }

  BenchReport run() {
    const StepSize size = e_.trainer->part<StepData>().step_size();
    BenchReport report;
    report.batch = size.batch;
    report.towers = size.towers;
    report.threads = size.threads;
    report.precision = name_of(e_.config.engine.precision);
    report.steps = options_.steps;
    const auto handle = e_.trainer->part<TrainedModel>().model_handle();
    if (handle) report.hardware = handle->device->hardware();
    report.step_digest = step_digest(e_);
    report.both = time_both();
    if (figure_) report.figure = e_.trainer->part<StepStatistics>().statistics()[*figure_].name;
    report.figure_81_to_100 = mean_figure(80, 100);
    if (input_.opened()) {
      held_.on = true;
      report.train = time_steps();
    }
    report.nodes = time_nodes();
    const DataFlow* data = e_.train_flow();
    if (data != nullptr && agent_source_of(*data->flow()) == nullptr)
      report.data = time_data(*data, e_.config.seed, options_);
    report.peak_rss_mb = static_cast<double>(peak_resident_memory()) / 1e6;
    if (!options_.trace.empty()) write_trace();
    if (handle && !report.nodes.empty()) {
      report.limits = measure_limits(*handle->device);
      for (NodeCost& node : report.nodes) set_limit(node.cost, *report.limits);
    }
    report.kinds = by_kind(report.nodes);
    return report;
  }

  StepProfile profile(int64_t bucket_bytes, int element_bytes) {
    const auto programs = e_.trainer->part<StepPrograms>().programs();
    const auto backward = std::find_if(programs.begin(), programs.end(), [](const NamedExecutable& program) {
      return program.name == "backward";
    });
    if (backward == programs.end() || programs.size() != 2)
      throw ConfigError("only a model with one update can be profiled for several nodes");
    const FlatLayout& layout = e_.trainer->part<TrainedVariables>().variables()->layout("");
    const auto buckets = gradient_buckets(layout, bucket_bytes / static_cast<int64_t>(sizeof(float)));
    Stopwatch watch;
    std::vector<std::vector<double>> ready(buckets.size());
    AssignmentWatch assignments;
    for (const GradientBucket& bucket : buckets) {
      assignments.sets.emplace_back();
      for (const std::string& name : bucket.variables) assignments.sets.back().push_back(gradient_name(name));
    }
    assignments.reached = [&](size_t bucket) { ready[bucket].push_back(watch.seconds()); };
    backward->executable->watch(&assignments);
    std::vector<double> all;
    for (int i = 0; i < options_.warm_up + options_.steps; ++i) {
      held_.on = i > 0;
      watch.reset();
      step();
      all.push_back(watch.seconds());
    }
    backward->executable->watch(nullptr);
    const auto timed_median = [&](const std::vector<double>& times) {
      return median({times.begin() + options_.warm_up, times.end()});
    };
    StepProfile profile;
    for (size_t i = 0; i < buckets.size(); ++i)
      profile.buckets.push_back(
          {timed_median(ready[i]), static_cast<double>(buckets[i].size) * element_bytes});
    profile.backward_s = profile.buckets.back().ready_s;
    profile.update_s = timed_median(all) - profile.backward_s;
    profile.sum_bytes_per_s = sum_speed() * element_bytes / sizeof(float);
    return profile;
  }

 private:
  /// Speed at which a rank adds received floats to its own, in bytes per second.
  static double sum_speed() {
    constexpr size_t kCount = size_t{1} << 22U;
    const std::vector<float> theirs(kCount, 1);
    std::vector<float> own(kCount, 1);
    const auto source = [&](int rank) -> const float* { return rank == 0 ? own.data() : theirs.data(); };
    const auto take = [&](size_t begin, std::span<const float> sums) {
      std::copy(sums.begin(), sums.end(), own.begin() + static_cast<std::ptrdiff_t>(begin));
    };
    sum_in_rank_order<float>(2, kCount, source, take);
    const Stopwatch watch;
    sum_in_rank_order<float>(2, kCount, source, take);
    return kCount * sizeof(float) / watch.seconds();
  }

  /// Runs one step; returns its number of samples.
  int64_t step() {
    const int64_t before = e_.trainer->part<StepData>().samples();
    if (!e_.trainer->step(step_++, {})) throw DataError("the trainer had no data for a step");
    return e_.trainer->part<StepData>().samples() - before;
  }

  BenchFigure time_steps() {
    return timed(options_, Middle::kMedian, [this] { return step(); });
  }

  BenchFigure time_both() {
    return timed(options_, Middle::kMedian, [&] {
      const int64_t samples = step();
      if (figure_) figures_.push_back(e_.trainer->part<StepStatistics>().statistic(*figure_).value_or(kNan));
      return samples;
    });
  }

  double mean_figure(size_t begin, size_t end) const {
    if (figures_.size() < end) return kNan;
    const auto at = [&](size_t i) { return figures_.begin() + static_cast<std::ptrdiff_t>(i); };
    return std::accumulate(at(begin), at(end), 0.0) / static_cast<double>(end - begin);
  }

  void write_trace() {
    StepTrace trace(e_.trainer->part<StepPrograms>(), e_.trainer->part<StepData>());
    step();
    write_whole_file(options_.trace, trace.finish(step_));
  }

  /// Every node with its mean time, the slowest first.
  std::vector<NodeCost> time_nodes() {
    const std::vector<NamedExecutable> programs = e_.trainer->part<StepPrograms>().programs();
    if (programs.empty()) return {};
    for (const NamedExecutable& program : programs) program.executable->profile(true);
    for (int i = 0; i < options_.steps; ++i) step();
    std::vector<NodeCost> all;
    for (const NamedExecutable& program : programs) {
      program.executable->profile(false);
      for (const NodeTime& node : program.executable->times()) {
        const double runs = static_cast<double>(node.runs) / options_.steps;  // of a step
        all.push_back({program.name,
                       node.path,
                       node.kind,
                       {.seconds = node.seconds / options_.steps,
                        .flops = runs * node.flops,
                        .bytes = runs * node.bytes}});
      }
    }
    sort_by_time(all);
    return all;
  }

  Experiment& e_;
  const BenchOptions& options_;
  Held held_;
  HoldingInput input_;
  Plan plan_;
  std::unique_ptr<Comm> world_ = make_self_comm();
  std::optional<size_t> figure_;  // number of the first statistic that is minimized
  std::vector<double> figures_;   // of the steps with changing data
  int64_t step_ = 0;
};

}  // namespace

BenchReport bench(Experiment& experiment, const BenchOptions& options) {
  const DataFlow* train = experiment.train_flow();
  const bool lacks_model = experiment.config.model.is_null() && experiment.trainer->needs().model;
  if (lacks_model && train != nullptr) {  // tensorpack's TestDataSpeed
    if (!options.trace.empty())
      throw ConfigError("--trace: the config has no model, so there is no step to trace");
    train->prepare();
    BenchReport report{.batch = train->batch_size().value_or(1), .steps = options.steps};
    report.data = time_data(*train, experiment.config.seed, options);
    report.peak_rss_mb = static_cast<double>(peak_resident_memory()) / 1e6;
    return report;
  }
  return Bench(experiment, options).run();
}

StepProfile profile_step(Experiment& experiment, const BenchOptions& options, int64_t bucket_bytes,
                         int element_bytes) {
  return Bench(experiment, options).profile(bucket_bytes, element_bytes);
}

void KernelCost::add(const KernelCost& other) {
  seconds += other.seconds;
  flops += other.flops;
  bytes += other.bytes;
  arithmetic_s += other.arithmetic_s;
  memory_s += other.memory_s;
}

std::string BenchReport::str(size_t slowest) const {
  TextTable table({"median of " + std::to_string(steps) + " steps", "ms", "samples/s"});
  const auto add = [&](const char* name, const BenchFigure& f) {
    table.add({name, fixed(f.median_s * 1e3, 3), with_thousands(static_cast<int64_t>(f.samples_per_s))});
  };
  if (train) add("step alone, one batch held fixed", *train);
  if (data) add("data alone, per batch (mean)", *data);
  if (both) add(data ? "both" : "step", *both);
  KernelCost all;
  for (const NodeKindTime& kind : kinds) all.add(kind.cost);
  const auto add_costs = [&](TextTable& to, std::vector<std::string> row, const KernelCost& cost) {
    row.insert(row.end(),
               {fixed(cost.seconds * 1e3, 3), percent(cost.seconds / std::max(all.seconds, 1e-12)),
                cost.flops > 0 && cost.seconds > 0 ? fixed(cost.flops / cost.seconds / 1e9, 1) : ""});
    if (limits) row.push_back(percent(cost.share()) + " " + cost.limit());
    to.add(std::move(row));
  };
  TextTable kind_table({"program", "kind", "nodes", "mean ms per step", "share", "GFLOP/s", "of limit"});
  for (const NodeKindTime& kind : kinds)
    add_costs(kind_table, {kind.program, kind.kind, std::to_string(kind.nodes)}, kind.cost);
  add_costs(kind_table, {"all", "", std::to_string(nodes.size())}, all);
  TextTable node_table(
      {"program", "slowest nodes", "kind", "mean ms per step", "share", "GFLOP/s", "of limit"});
  for (size_t i = 0; i < std::min(slowest, nodes.size()); ++i)
    add_costs(node_table, {nodes[i].program, nodes[i].path, nodes[i].kind}, nodes[i].cost);
  const std::string mean = std::isnan(figure_81_to_100)
                               ? ""
                               : ", mean " + figure + " of steps 81 to 100: " + fixed(figure_81_to_100, 4);
  std::string tables = table.str();
  if (!nodes.empty()) tables += "\n" + kind_table.str() + "\n" + node_table.str();
  return "batch " + std::to_string(batch) + ", towers " + std::to_string(towers) + ", threads per tower " +
         std::to_string(threads) + ", precision " + precision + ", peak RSS " + fixed(peak_rss_mb, 1) +
         " MB" + mean + "\n" +
         (limits ? "limits of this machine: " + fixed(limits->flops_per_s / 1e9, 1) +
                       " GFLOP/s in matrix products, " + fixed(limits->bytes_per_s / 1e9, 1) +
                       " GB/s of memory\n"
                 : "") +
         "\n" + tables;
}

std::string BenchReport::to_json(size_t slowest) const {
  const auto json = [](const BenchFigure& f) {
    return nlohmann::ordered_json{{"samples_per_s", f.samples_per_s}, {"step_ms", f.median_s * 1e3}};
  };
  nlohmann::ordered_json root = {
      {"batch", batch}, {"towers", towers}, {"threads", threads}, {"precision", precision}, {"steps", steps}};
  if (!hardware.empty()) root["hardware"] = hardware;
  if (train) root["train"] = json(*train);
  if (data) root["data"] = json(*data);
  if (both) {
    root["both"] = json(*both);
    root["both"]["loss_81_to_100"] = figure_81_to_100;
    root["both"]["loss"] = figure;
  }
  root["peak_rss_mb"] = peak_rss_mb;
  if (limits) root["limits"] = {{"flops_per_s", limits->flops_per_s}, {"bytes_per_s", limits->bytes_per_s}};
  const auto add = [&](const char* list, nlohmann::ordered_json row, const KernelCost& cost) {
    row.update({{"ms", cost.seconds * 1e3}, {"flops", cost.flops}, {"bytes", cost.bytes}});
    if (limits)
      row.update({{"limit", cost.limit()}, {"limit_ms", cost.limit_s() * 1e3}, {"share", cost.share()}});
    root[list].push_back(std::move(row));
  };
  root["kinds"] = nlohmann::ordered_json::array();
  root["nodes"] = nlohmann::ordered_json::array();
  for (const NodeKindTime& kind : kinds)
    add("kinds", {{"program", kind.program}, {"kind", kind.kind}, {"nodes", kind.nodes}}, kind.cost);
  for (const NodeCost& node : std::span(nodes).first(std::min(slowest, nodes.size())))
    add("nodes", {{"program", node.program}, {"path", node.path}, {"kind", node.kind}}, node.cost);
  return root.dump(1);
}

}  // namespace tpack
