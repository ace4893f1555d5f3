#include "backend/engine/layout_choice.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "graph/images.h"

namespace tpack {
namespace {

constexpr double kReorderBytesPerSecond = 5e9;   // read and written, one thread
constexpr double kDirectFlopsPerSecond = 100e9;  // one thread; only ratios matter

/// One way to run a node.
struct Option {
  Layout layout = Layout::kNhwc;
  std::string algorithm;
  double seconds = 0;
};

constexpr std::array<Layout, 2> kLayoutsOfImages = {Layout::kNhwc, Layout::kBlocked};

/// True if the node's layout is chosen.
bool has_choice(const Node& node, const Images& images, const KernelLibrary& library) {
  return library.rule(node) != LayoutRule::kPlain && images.touch(node);
}

/// A unit with one layout: a convolution, a region of nodes that support any layout but need the same one, or
/// a node with a fixed layout.
struct Unit {
  std::vector<const Node*> nodes;
  std::vector<Option> options;
  size_t chosen = 0;
};

class Search {
 public:
  /// With the times that the fixed rules estimate.
  Search(const Graph& graph, DeviceOptions::Algorithm algorithm, int pieces, const KernelLibrary& library)
      : graph_(graph),
        images_(graph),
        algorithm_(algorithm),
        pieces_(pieces),
        library_(library),
        unit_of_(graph.size(), -1) {
    make_units();
    for (Unit& unit : units_) fill_options(unit);
    find_edges();
  }

  /// Measures the times of convolutions against what the fixed rules chose for the whole graph. A unit
  /// without a measurement keeps the choice of the rules.
  void measure(const PlanSection& rules, Tuner& tuner, KernelQueue& queue,
               const std::function<void()>& before_timing) {
    std::vector<TimingJob> jobs;
    std::vector<Unit*> measured_units;
    for (Unit& unit : units_) {
      const Node& node = *unit.nodes.front();
      if (!has_ways(node) || unit.options.size() < 2) continue;
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
    const auto measured = tuner.measure(jobs, queue, before_timing);
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
      if (!needed[id] || !has_choice(*node, images_, library_)) continue;
      const int root = joins_region(*node) ? find(node->id) : -1 - node->id;
      const auto [at, fresh] = unit_of_root.emplace(root, static_cast<int>(units_.size()));
      if (fresh) units_.emplace_back();
      units_[static_cast<size_t>(at->second)].nodes.push_back(node.get());
      unit_of_[id] = at->second;
    }
  }

  bool has_ways(const Node& node) const { return library_.rule(node) == LayoutRule::kChosen; }
  bool joins_region(const Node& node) const {
    const auto accepts = [&](Layout layout) { return library_.accepts(node, layout); };
    return library_.rule(node) == LayoutRule::kAgnostic && std::ranges::all_of(kLayoutsOfImages, accepts);
  }

  void fill_options(Unit& unit) {
    const Node& first = *unit.nodes.front();
    if (has_ways(first)) return add_ways(first, unit);
    for (const Layout layout : kLayoutsOfImages) {
      const double padding = layout == Layout::kBlocked ? padding_seconds(unit) : 0;
      if (library_.accepts(first, layout)) unit.options.push_back({layout, "", padding});
    }
    TPACK_ASSERT(!unit.options.empty(), "no layout for " + first.path);
  }

  void add_ways(const Node& node, Unit& unit) const {
    const double flops = node.op->flops(node);
    for (Way& way : library_.ways(node, algorithm_ == DeviceOptions::Algorithm::kDirect))
      unit.options.push_back(
          {way.layout, std::move(way.algorithm), flops / (kDirectFlopsPerSecond * pieces_ * way.gain)});
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
        const bool first_layer = has_ways(*node) && s.shape()[1] == 1;
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
  const KernelLibrary& library_;
  std::vector<int> unit_of_;  // by node id, -1 for nodes without images
  std::vector<Unit> units_;
  std::vector<Edge> edges_;
  std::vector<std::vector<size_t>> edges_of_;  // by unit
};

}  // namespace

PlanSection choose_layouts(const Graph& graph, DeviceOptions::Algorithm algorithm, int pieces,
                           const KernelLibrary& library) {
  return Search(graph, algorithm, pieces, library).run();
}

PlanSection measure_layouts(const Graph& graph, const PlanSection& rules, Tuner& tuner, KernelQueue& queue,
                            const KernelLibrary& library, const std::function<void()>& before_timing) {
  Search search(graph, DeviceOptions::Algorithm::kAuto, rules.pieces, library);
  search.measure(rules, tuner, queue, before_timing);
  return search.run();
}

void require_section_of(const Graph& graph, const PlanSection& section, const KernelLibrary& library) {
  const auto reject = [](const std::string& what) {
    throw PlanError("the plan " + what + ": it is for a different network or version of tpack");
  };
  std::set<std::string> chosen;
  const std::vector<bool> needed = graph.needed();
  const Images images(graph);
  for (const auto& node : graph.nodes()) {
    if (!needed[static_cast<size_t>(node->id)] || !has_choice(*node, images, library)) continue;
    if (!section.nodes.contains(node->path)) reject("has no entry for node " + node->path);
    chosen.insert(node->path);
  }
  for (const auto& [path, choice] : section.nodes) {
    if (!chosen.contains(path)) reject("names node " + path + ", which the program does not have");
  }
}

}  // namespace tpack
