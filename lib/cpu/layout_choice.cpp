#include "cpu/layout_choice.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "backend/passes/depth_first.h"
#include "backend/passes/fused_ops.h"
#include "cpu/onednn.h"
#include "cpu/winograd.h"
#include "graph/images.h"

namespace tpack::cpu {
namespace {

constexpr double kReorderBytesPerSecond = 5e9;   // read and written, one thread
constexpr double kDirectFlopsPerSecond = 100e9;  // one thread; only ratios matter
constexpr double kWinogradGain = 1.5;

/// One way to run a node.
struct Option {
  Layout layout = Layout::kNhwc;
  std::string algorithm;
  double seconds = 0;
};

const ConvolutionParams* window_of(const Op& op) {
  if (const auto* c = dynamic_cast<const Convolution*>(&op)) return &c->params();
  if (const auto* c = dynamic_cast<const FusedConvolution*>(&op)) return &c->params().window;
  if (const auto* c = dynamic_cast<const ConvolutionBackwardData*>(&op)) return &c->params().window;
  if (const auto* c = dynamic_cast<const ConvolutionBackwardWeights*>(&op)) return &c->params().window;
  return nullptr;
}

/// The window of a convolution in any direction; null for other nodes.
const ConvolutionParams* window_of(const Node& node) {
  const auto* joined = op_cast<DepthFirst>(node);
  if (joined == nullptr) return window_of(*node.op);
  const ConvolutionParams* first = window_of(*joined->first());
  return first != nullptr ? first : window_of(*joined->second());
}

/// Weights that a convolution reads, or whose gradient it computes.
const Shape& weights_of(const Node& node) {
  const auto* joined = op_cast<DepthFirst>(node);
  const bool gives_weights =
      op_cast<ConvolutionBackwardWeights>(node) != nullptr || (joined != nullptr && joined->sums());
  return gives_weights ? node.outputs[0].shape : node.inputs[1].shape();
}

/// The Winograd algorithms that exist here and may win, with the one that usually wins first. There must be
/// enough channels to pay for the transforms, and few enough that the transformed filters stay in the cache.
std::vector<std::string> winograds(const Node& node, const ConvolutionParams& p) {
  constexpr int64_t kMinChannels = 16;
  constexpr int64_t kMinForOneDnn = 32;
  constexpr int64_t kMaxTiledElements = 128;
  const Shape& w = weights_of(node);
  const int64_t fewest = std::min(w[0], w[1]);
  const int64_t most = std::max(w[0], w[1]);
  if (!tiled_winograd_fits(p, w) || fewest < kMinChannels) return {};
  if (fewest < kMinForOneDnn || !onednn_winograd_fits(p)) return {kTiledWinograd};
  if (most <= kMaxTiledElements) return {kTiledWinograd, "winograd"};
  return {"winograd", kTiledWinograd};
}

/// Whether the first of them usually wins. The tiled one is slower than direct convolutions where the
/// transformed filters are larger than the cache, except for gradients of weights, whose filters are results.
bool usually_wins(const std::string& winograd, const Node& node) {
  constexpr int64_t kMaxTiledElements = 256;
  const Shape& w = weights_of(node);
  const bool gives_weights = node.outputs[0].shape == w;
  return winograd != kTiledWinograd || gives_weights || std::max(w[0], w[1]) <= kMaxTiledElements;
}

LayoutRule rule(const Node& node) {
  const KernelEntry* entry = find_kernel(node);
  return entry == nullptr ? LayoutRule::kPlain : entry->rule;
}

/// True if the node's layout is chosen.
bool has_choice(const Node& node, const Images& images) {
  return rule(node) != LayoutRule::kPlain && images.touch(node);
}

constexpr std::array<Layout, 2> kLayoutsOfImages = {Layout::kNhwc, Layout::kBlocked};

bool accepts(const Node& node, Layout layout) {
  const KernelEntry* entry = find_kernel(node);
  return entry->accepts == nullptr || entry->accepts(node, layout);
}
bool accepts_all(const Node& node) {
  return std::all_of(kLayoutsOfImages.begin(), kLayoutsOfImages.end(),
                     [&](Layout layout) { return accepts(node, layout); });
}

/// One thing that has a layout of its own: a convolution, a region of nodes that take any layout but all the
/// same one, or a node that takes only one.
struct Unit {
  std::vector<const Node*> nodes;
  std::vector<Option> options;
  size_t chosen = 0;
};

class Search {
 public:
  /// With the times that the fixed rules estimate.
  Search(const Graph& graph, DeviceOptions::Algorithm algorithm, int pieces)
      : graph_(graph), images_(graph), algorithm_(algorithm), pieces_(pieces), unit_of_(graph.size(), -1) {
    make_units();
    for (Unit& unit : units_) fill_options(unit);
    find_edges();
  }

  /// Measures the times of convolutions against what the fixed rules chose for the whole graph. A unit that
  /// is not measured stays as the rules have it.
  void measure(const PlanSection& rules, Tuner& tuner, Team& team,
               const std::function<void()>& before_timing) {
    std::vector<TimingJob> jobs;
    std::vector<Unit*> measured_units;
    for (Unit& unit : units_) {
      const Node& node = *unit.nodes.front();
      if (window_of(node) == nullptr || unit.options.size() < 2) continue;
      TimingJob job;
      for (size_t i = 0; i < unit.options.size(); ++i) {
        const Option& option = unit.options[i];
        const NodeChoice choice{name_of(option.layout), option.algorithm};
        if (choice == rules.nodes.at(node.path)) job.preferred = i;
        job.ways.push_back({node, option.layout, option.algorithm, pieces_});
      }
      jobs.push_back(std::move(job));
      measured_units.push_back(&unit);
    }
    const auto measured = tuner.measure(jobs, team, before_timing);
    for (size_t k = 0; k < jobs.size(); ++k) {
      std::vector<double> seconds(jobs[k].ways.size(), std::numeric_limits<double>::infinity());
      seconds[jobs[k].preferred] = 0;
      if (!measured[k].empty()) seconds = comparable_seconds(measured[k], jobs[k].preferred);
      for (size_t i = 0; i < seconds.size(); ++i) measured_units[k]->options[i].seconds = seconds[i];
    }
  }

  PlanSection run() {
    improve(Layout::kBlocked);
    const double blocked = total();
    const std::vector<size_t> first = chosen();
    improve(Layout::kNhwc);
    if (blocked < total()) {
      for (size_t i = 0; i < units_.size(); ++i) units_[i].chosen = first[i];
    }
    PlanSection section{.pieces = pieces_, .chosen = true, .nodes = {}};
    for (const Unit& unit : units_) {
      for (const Node* node : unit.nodes) {
        const Option& option = unit.options[unit.chosen];
        section.nodes.emplace(node->path, NodeChoice{name_of(option.layout), option.algorithm});
      }
    }
    return section;
  }

 private:
  /// Bytes that move if the two ends have different layouts. `producer` -1: a channels-last input of the
  /// graph.
  struct Edge {
    int producer;
    int consumer;
    double seconds;
  };

  void make_units() {
    std::vector<int> parent(graph_.size());
    std::iota(parent.begin(), parent.end(), 0);
    const auto find = [&](int i) {
      while (parent[static_cast<size_t>(i)] != i) i = parent[static_cast<size_t>(i)];
      return i;
    };
    const std::vector<bool> needed = graph_.needed();
    for (const auto& node : graph_.nodes()) {
      if (!needed[static_cast<size_t>(node->id)] || !joins_region(*node)) continue;
      for (const Symbol& s : node->inputs) {
        if (images_.contains(s) && joins_region(*s.node))
          parent[static_cast<size_t>(find(node->id))] = find(s.node->id);
      }
    }
    std::map<int, int> unit_of_root;
    for (const auto& node : graph_.nodes()) {
      const auto id = static_cast<size_t>(node->id);
      if (!needed[id] || !has_choice(*node, images_)) continue;
      const int root = joins_region(*node) ? find(node->id) : -1 - node->id;
      const auto [at, fresh] = unit_of_root.emplace(root, static_cast<int>(units_.size()));
      if (fresh) units_.emplace_back();
      units_[static_cast<size_t>(at->second)].nodes.push_back(node.get());
      unit_of_[id] = at->second;
    }
  }

  static bool joins_region(const Node& node) {
    return rule(node) == LayoutRule::kAgnostic && accepts_all(node);
  }

  void fill_options(Unit& unit) {
    const Node& first = *unit.nodes.front();
    const ConvolutionParams* window = window_of(first);
    if (window == nullptr) {
      for (const Layout layout : kLayoutsOfImages) {
        const double padding = layout == Layout::kBlocked ? padding_seconds(unit) : 0;
        if (accepts(first, layout)) unit.options.push_back({layout, "", padding});
      }
      TPACK_ASSERT(!unit.options.empty(), "no layout for " + first.path);
    } else {
      convolution_options(first, *window, unit);
    }
  }

  void convolution_options(const Node& node, const ConvolutionParams& window, Unit& unit) {
    unit.options = {{Layout::kNhwc, "direct", 0}};
    // Without AVX-512, oneDNN has only its reference kernels for this layout.
    if (has_avx512()) unit.options.push_back({Layout::kBlocked, "direct", 0});
    std::vector<std::string> algorithms;
    if (algorithm_ != DeviceOptions::Algorithm::kDirect) algorithms = winograds(node, window);
    for (const std::string& algorithm : algorithms) unit.options.push_back({Layout::kBlocked, algorithm, 0});
    const double flops = node.op->flops(node);
    const bool wins = !algorithms.empty() && usually_wins(algorithms.front(), node);
    for (Option& option : unit.options) {
      const bool is_first = !algorithms.empty() && option.algorithm == algorithms.front();
      const double gain = !is_first ? 1 : wins ? kWinogradGain : 1 / kWinogradGain;
      option.seconds = flops / (kDirectFlopsPerSecond * pieces_ * gain);
    }
  }

  /// If the number of channels is not a multiple of 16, the padding is computed too.
  double padding_seconds(const Unit& unit) const {
    double bytes = 0;
    for (const Node* node : unit.nodes) {
      for (size_t i = 0; i < node->outputs.size(); ++i) {
        const TensorSpec& spec = node->outputs[i];
        if (!images_.contains(node->out(static_cast<int>(i)))) continue;
        const double full = static_cast<double>(padded_channels(spec.shape, Layout::kBlocked)) /
                            static_cast<double>(spec.shape[1]);
        bytes += static_cast<double>(spec.bytes()) * (full - 1);
      }
    }
    return 2 * bytes / (kReorderBytesPerSecond * pieces_);
  }

  void find_edges() {
    std::set<std::pair<Symbol, int>> seen;  // a tensor is reordered once for all nodes of a unit
    for (const auto& node : graph_.nodes()) {
      const int consumer = unit_of_[static_cast<size_t>(node->id)];
      if (consumer < 0) continue;
      for (const Symbol& s : node->inputs) {
        // One-channel images have the same order in both plain layouts.
        if (!images_.contains(s) || !seen.emplace(s, consumer).second) continue;
        const bool first_layer = window_of(*node) != nullptr && s.shape()[1] == 1;
        if (first_layer) continue;
        const double seconds =
            2.0 * static_cast<double>(s.spec().bytes()) / (kReorderBytesPerSecond * pieces_);
        edges_.push_back({unit_of_[static_cast<size_t>(s.node->id)], consumer, seconds});
      }
    }
    edges_of_.resize(units_.size());
    for (size_t i = 0; i < edges_.size(); ++i) {
      if (edges_[i].producer >= 0) edges_of_[static_cast<size_t>(edges_[i].producer)].push_back(i);
      if (edges_[i].consumer != edges_[i].producer)
        edges_of_[static_cast<size_t>(edges_[i].consumer)].push_back(i);
    }
  }

  Layout layout_of(int unit) const {
    if (unit < 0) return Layout::kNhwc;
    const Unit& u = units_[static_cast<size_t>(unit)];
    return u.options[u.chosen].layout;
  }
  double cost_of(const Edge& edge) const {
    return layout_of(edge.producer) == layout_of(edge.consumer) ? 0 : edge.seconds;
  }
  double cost_of(size_t unit) const {
    double seconds = units_[unit].options[units_[unit].chosen].seconds;
    for (const size_t edge : edges_of_[unit]) seconds += cost_of(edges_[edge]);
    return seconds;
  }
  double total() const {
    double seconds = 0;
    for (const Unit& unit : units_) seconds += unit.options[unit.chosen].seconds;
    for (const Edge& edge : edges_) seconds += cost_of(edge);
    return seconds;
  }
  std::vector<size_t> chosen() const {
    std::vector<size_t> all;
    for (const Unit& unit : units_) all.push_back(unit.chosen);
    return all;
  }

  /// Starts with everything in one layout and changes one unit at a time, as long as that helps.
  void improve(Layout start) {
    constexpr int kRounds = 20;
    for (Unit& unit : units_) {
      unit.chosen = 0;
      for (size_t i = 1; i < unit.options.size(); ++i) {
        const bool better = unit.options[i].seconds < unit.options[unit.chosen].seconds ||
                            unit.options[unit.chosen].layout != start;
        if (unit.options[i].layout == start && better) unit.chosen = i;
      }
    }
    bool changed = true;
    for (int round = 0; round < kRounds && changed; ++round) {
      changed = false;
      for (size_t unit = 0; unit < units_.size(); ++unit) changed = choose_best(unit) || changed;
    }
  }

  bool choose_best(size_t unit) {
    const size_t before = units_[unit].chosen;
    size_t best = before;
    double least = cost_of(unit);
    for (size_t i = 0; i < units_[unit].options.size(); ++i) {
      units_[unit].chosen = i;
      const double seconds = cost_of(unit);
      if (seconds >= least) continue;
      least = seconds;
      best = i;
    }
    units_[unit].chosen = best;
    return best != before;
  }

  const Graph& graph_;
  Images images_;
  DeviceOptions::Algorithm algorithm_;
  int pieces_;
  std::vector<int> unit_of_;  // by node id, -1 for nodes without images
  std::vector<Unit> units_;
  std::vector<Edge> edges_;
  std::vector<std::vector<size_t>> edges_of_;  // by unit
};

}  // namespace

PlanSection choose_layouts(const Graph& graph, DeviceOptions::Algorithm algorithm, int pieces) {
  return Search(graph, algorithm, pieces).run();
}

PlanSection measure_layouts(const Graph& graph, const PlanSection& rules, Tuner& tuner, Team& team,
                            const std::function<void()>& before_timing) {
  Search search(graph, DeviceOptions::Algorithm::kAuto, rules.pieces);
  search.measure(rules, tuner, team, before_timing);
  return search.run();
}

void require_section_of(const Graph& graph, const PlanSection& section) {
  const auto reject = [](const std::string& what) {
    throw PlanError("the plan " + what + ": it is for another network or version of tpack");
  };
  std::set<std::string> chosen;
  const std::vector<bool> needed = graph.needed();
  const Images images(graph);
  for (const auto& node : graph.nodes()) {
    if (!needed[static_cast<size_t>(node->id)] || !has_choice(*node, images)) continue;
    if (!section.nodes.contains(node->path)) reject("has no entry for node " + node->path);
    chosen.insert(node->path);
  }
  for (const auto& [path, choice] : section.nodes) {
    if (!chosen.contains(path)) reject("names node " + path + ", which the program does not have");
  }
}

}  // namespace tpack::cpu
