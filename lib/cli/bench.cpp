#include "cli/bench.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <numeric>
#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include "cli/check.h"
#include "cli/text_table.h"
#include "comm/self_comm.h"
#include "core/clock.h"
#include "core/text.h"
#include "parallel/data_parallel.h"

namespace tpack {
namespace {

enum class Middle : uint8_t {
  kMedian,
  kMean  // of what comes in bursts: batches that workers make ahead
};

/// Times `step`, which gives the number of its samples, after the warm-up.
BenchFigure timed(const BenchOptions& options, Middle of, const std::function<int64_t()>& step) {
  for (int i = 0; i < options.warm_up; ++i) step();
  std::vector<double> times;
  int64_t samples = 0;
  for (int i = 0; i < options.steps; ++i) {
    const Stopwatch watch;
    samples += step();
    times.push_back(watch.seconds());
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  const double mean = std::accumulate(times.begin(), times.end(), 0.0) / options.steps;
  const double seconds = of == Middle::kMean ? mean : *middle;
  return {seconds, static_cast<double>(samples) / options.steps / seconds};
}

template <class T>
void sort_by_time(std::vector<T>& all) {
  std::sort(all.begin(), all.end(), [](const T& a, const T& b) { return a.seconds > b.seconds; });
}

std::vector<NodeKindTime> by_kind(const std::vector<NodeCost>& nodes) {
  std::map<std::pair<std::string, std::string>, NodeKindTime> kinds;
  for (const NodeCost& node : nodes) {
    NodeKindTime& kind = kinds[{node.program, node.kind}];
    kind.program = node.program;
    kind.kind = node.kind;
    ++kind.nodes;
    kind.seconds += node.seconds;
    kind.flops += node.flops;
  }
  std::vector<NodeKindTime> all;
  for (auto& [key, kind] : kinds) all.push_back(std::move(kind));
  sort_by_time(all);
  return all;
}

/// What the three measurements share.
class Bench {
 public:
  Bench(Experiment& experiment, const BenchOptions& options) : e_(experiment), options_(options) {
    e_.require_for_training();
    prepare(e_.flows);
    set_up_trainer(e_, plan_, *world_);
    replicas_ = e_.trainer->replicas();
    if (replicas_ == nullptr) {
      throw ConfigError(e_.position_of("trainer"),
                        "bench needs a trainer that trains a model (Simple, SyncMultiGPU)");
    }
    size_ = e_.trainer->step_size();
    signature_ = batch_specs(*e_.tower, size_.batch);
    components_ = bind_inputs(e_.tower->inputs(), train_flow().spec(), "data.train");
    replicas_->build(signature_);
    replicas_->initialize();
    read_fixed_batch();
  }

  BenchReport run() {
    BenchReport report;
    report.batch = size_.batch;
    report.towers = size_.towers;
    report.threads = replicas_->device().threads();
    report.steps = options_.steps;
    report.both = time_both();
    report.loss_81_to_100 = mean_loss(80, 100);
    report.train = time_train();
    report.nodes = time_nodes();
    report.kinds = by_kind(report.nodes);
    report.data = time_data();
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    report.peak_rss_mb = static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
    return report;
  }

 private:
  const DataFlow& train_flow() const { return e_.flow("train"); }

  void read_fixed_batch() {
    auto stream = train_flow().stream({.seed = static_cast<uint64_t>(e_.config.seed)});
    auto batch = stream->next();
    if (!batch) throw DataError("data.train gives no batch");
    for (const size_t component : components_) fixed_.push_back(batch->tensor(component).clone());
  }

  /// One step on these batches; its samples.
  int64_t step(const DataParallel::Batches& batches) {
    const int64_t before = replicas_->samples();
    replicas_->step(step_++, batches);
    return replicas_->samples() - before;
  }

  int64_t fixed_step() {
    return step([this](size_t /*tower*/) { return std::span<const Tensor>(fixed_); });
  }

  BenchFigure time_train() {
    return timed(options_, Middle::kMedian, [this] { return fixed_step(); });
  }

  BenchFigure time_data() {
    auto stream = train_flow().stream({.seed = static_cast<uint64_t>(e_.config.seed)});
    return timed(options_, Middle::kMean, [&] {
      const auto batch = stream->next();
      return batch ? batch->tensor(0).shape()[0] : 0;
    });
  }

  BenchFigure time_both() {
    std::vector<std::unique_ptr<InputReader>> readers;
    for (size_t k = 0; k < replicas_->local_towers(); ++k) {
      InputSetup input;
      input.flow = &train_flow();
      input.components = components_;
      input.nominal = signature_;
      input.seed = static_cast<uint64_t>(e_.config.seed);
      input.replica = replicas_->replica(k);
      input.replicas = replicas_->replicas();
      readers.push_back(e_.input->open(input));
    }
    return timed(options_, Middle::kMedian, [&] {
      const int64_t samples = step(
          [&](size_t k) { return readers[k]->next({}) ? readers[k]->tensors() : std::span<const Tensor>(); });
      losses_.push_back(replicas_->statistic_sum(0) /
                        replicas_->statistic_weight(0));  // the cost comes first
      return samples;
    });
  }

  double mean_loss(size_t begin, size_t end) const {
    if (losses_.size() < end) return std::numeric_limits<double>::quiet_NaN();
    const auto at = [&](size_t i) { return losses_.begin() + static_cast<std::ptrdiff_t>(i); };
    return std::accumulate(at(begin), at(end), 0.0) / static_cast<double>(end - begin);
  }

  /// Every node with its mean time, the slowest first.
  std::vector<NodeCost> time_nodes() {
    Executable* const programs[] = {&replicas_->backward_executable(), &replicas_->update_executable()};
    for (Executable* program : programs) program->profile(true);
    for (int i = 0; i < options_.steps; ++i) fixed_step();
    std::vector<NodeCost> all;
    for (Executable* program : programs) {
      program->profile(false);
      for (const NodeTime& node : program->times()) {
        all.push_back({program == programs[0] ? "backward" : "update", node.path, node.kind,
                       node.seconds / options_.steps, node.flops});
      }
    }
    sort_by_time(all);
    return all;
  }

  Experiment& e_;
  const BenchOptions& options_;
  Plan plan_;
  std::unique_ptr<Comm> world_ = make_self_comm();
  StepSize size_;
  DataParallel* replicas_ = nullptr;
  Signature signature_;
  std::vector<size_t> components_;
  std::vector<Tensor> fixed_;
  std::vector<double> losses_;  // of the steps on data as it comes
  int64_t step_ = 0;
};

std::string fixed(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

}  // namespace

BenchReport bench(Experiment& experiment, const BenchOptions& options) {
  return Bench(experiment, options).run();
}

std::string BenchReport::str(size_t slowest) const {
  TextTable table({"median of " + std::to_string(steps) + " steps", "ms", "samples/s"});
  const auto add = [&](const char* name, const BenchFigure& f) {
    table.add({name, fixed(f.median_s * 1e3, 3), with_thousands(static_cast<int64_t>(f.samples_per_s))});
  };
  add("step alone, one batch held fixed", train);
  add("data alone, a batch (mean)", data);
  add("both", both);
  double all = 0;
  for (const NodeKindTime& kind : kinds) all += kind.seconds;
  const auto add_costs = [&](TextTable& to, std::vector<std::string> row, double seconds, double flops) {
    row.insert(row.end(), {fixed(seconds * 1e3, 3), fixed(100 * seconds / std::max(all, 1e-12), 1) + " %",
                           flops > 0 && seconds > 0 ? fixed(flops / seconds / 1e9, 1) : ""});
    to.add(std::move(row));
  };
  TextTable kind_table({"program", "kind", "nodes", "ms a step", "share", "GFLOP/s"});
  for (const NodeKindTime& kind : kinds)
    add_costs(kind_table, {kind.program, kind.kind, std::to_string(kind.nodes)}, kind.seconds, kind.flops);
  TextTable node_table({"program", "slowest nodes", "kind", "ms a step", "share", "GFLOP/s"});
  for (size_t i = 0; i < std::min(slowest, nodes.size()); ++i)
    add_costs(node_table, {nodes[i].program, nodes[i].path, nodes[i].kind}, nodes[i].seconds, nodes[i].flops);
  const std::string loss =
      std::isnan(loss_81_to_100) ? "" : ", mean cost of steps 81 to 100: " + fixed(loss_81_to_100, 4);
  return "batch " + std::to_string(batch) + ", towers " + std::to_string(towers) + ", threads a tower " +
         std::to_string(threads) + ", peak RSS " + fixed(peak_rss_mb, 1) + " MB" + loss + "\n\n" +
         table.str() + "\n" + kind_table.str() + "\n" + node_table.str();
}

std::string BenchReport::to_json(size_t slowest) const {
  using Json = nlohmann::ordered_json;
  const auto json = [](const BenchFigure& f) {
    return Json{{"samples_per_s", f.samples_per_s}, {"step_ms", f.median_s * 1e3}};
  };
  Json root = {{"batch", batch}, {"towers", towers}, {"threads", threads}, {"steps", steps}};
  root["train"] = json(train);
  root["data"] = json(data);
  root["both"] = json(both);
  root["both"]["loss_81_to_100"] = loss_81_to_100;
  root["peak_rss_mb"] = peak_rss_mb;
  root["kinds"] = Json::array();
  for (const NodeKindTime& kind : kinds) {
    root["kinds"].push_back({{"program", kind.program},
                             {"kind", kind.kind},
                             {"nodes", kind.nodes},
                             {"ms", kind.seconds * 1e3},
                             {"flops", kind.flops}});
  }
  root["nodes"] = Json::array();
  for (const NodeCost& node : std::span(nodes).first(std::min(slowest, nodes.size()))) {
    root["nodes"].push_back({{"program", node.program},
                             {"path", node.path},
                             {"kind", node.kind},
                             {"ms", node.seconds * 1e3},
                             {"flops", node.flops}});
  }
  return root.dump(1);
}

}  // namespace tpack
