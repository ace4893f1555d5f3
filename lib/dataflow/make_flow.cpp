#include <algorithm>
#include <map>
#include <set>

#include "core/error.h"
#include "core/other_words.h"
#include "core/registry.h"
#include "core/text.h"
#include "dataflow/batched_flow.h"
#include "dataflow/data_flow.h"
#include "dataflow/guarded_flow.h"
#include "dataflow/map.h"
#include "dataflow/map/tensor_map.h"
#include "dataflow/stage.h"
#include "image/augment/augmentor.h"

namespace tpack {
namespace {

/// The content of a flow besides its settings: its components, or the name of another flow.
struct FlowItems {
  ConfigNode node;
};

}  // namespace

template <>
struct Codec<FlowItems> {
  static FieldType type() {
    const FieldType component{.base = FieldType::Base::kComponent,
                              .of = "component",
                              .choices = {Source::kKind, Map::kKind, Stage::kKind}};
    return FieldType::either({FieldType::list_of(component), FieldType::reference(FlowName::kWhat)},
                             "a flow");
  }
  static std::optional<FlowItems> parse(const ConfigNode& node, Reader& reader) {
    const auto flow = Codec<FlowField>::parse(node, reader);
    return flow ? std::optional(FlowItems{flow->node}) : std::nullopt;
  }
  static ConfigNode dump(const FlowItems& items) { return Codec<FlowField>::dump({items.node}); }
};

namespace {

struct FlowParams {
  FlowItems flow;
  std::optional<WorkerCount> workers = {};
  std::optional<int> prefetch = {};
  std::optional<OnError> on_error = {};
};

Schema<FlowParams> flow_schema() {
  return Schema<FlowParams>("A dataflow and its settings.")
      .field("flow", &FlowParams::flow, "list of components, from source to batch")
      .required()
      .field("workers", &FlowParams::workers, "threads that make samples, or auto (the default)")
      .field("prefetch", &FlowParams::prefetch, between(1, 4096),
             "batches made ahead (16 samples each without BatchData); default: 3")
      .field("on_error", &FlowParams::on_error,
             "how to handle bad samples: stop (the default), skip or replace");
}

/// How a builder handles sources whose spec is known only after they are opened.
enum class Opening : uint8_t { kNot, kThose };

/// Builds one flow of a tree; children that know the path build the inner flows.
class FlowMaker final : public FlowBuilder {
 public:
  FlowMaker(const FlowScope& scope, Diagnostics& errors, std::shared_ptr<BadSamples> bad,
            std::shared_ptr<Fit> fit, SampleOrder order, Opening opening)
      : scope_(scope),
        errors_(errors),
        bad_(std::move(bad)),
        fit_(std::move(fit)),
        order_(order),
        opening_(opening) {}

  /// The flow, or null after all of its mistakes were reported.
  FlowPtr build_or_report(const ConfigNode& node) {
    try {
      return build_top(node);
    } catch (const ConfigError& error) {
      errors_.add(error, node.position());
      return nullptr;
    }
  }
  /// True if a source that is not open prevents a flow from being built.
  bool waits_for_data() const { return waits_for_data_; }

  FlowPtr build(const FlowField& field, const std::string& part, PartOrder order) override {
    const std::string outer_prefix = prefix_;
    const FlowSettings outer_settings = settings_;  // threads and prefetching apply to the whole tree
    const FlowParams outer_said = said_;
    prefix_ = context_name_ + "/" + part + "/";
    const bool outer_join = in_join_;
    settings_ = {};
    said_ = {};
    in_join_ = outer_join || order == PartOrder::kOfOwner;
    FlowPtr flow = build_top(field.node);
    in_join_ = outer_join;
    prefix_ = outer_prefix;
    settings_ = outer_settings;
    said_ = outer_said;
    return flow;
  }

  /// A flow in any of its forms: a list, a map with settings, or a name.
  FlowPtr build_top(const ConfigNode& node) {
    if (node.is_list()) return build_list(node);
    if (node.is_string()) return build_named(node);
    const size_t before = errors_.count();
    if (!check_is_map(node, "the flow", errors_)) return nullptr;
    const FlowParams params = flow_schema().parse(node, "the flow", errors_);
    if (errors_.count() != before) return nullptr;
    // The settings of a flow that refers to another one override the settings of that flow.
    if (!said_.workers) said_.workers = params.workers;
    if (!said_.prefetch) said_.prefetch = params.prefetch;
    if (!said_.on_error) said_.on_error = params.on_error;
    settings_.workers = said_.workers.value_or(settings_.workers);
    settings_.prefetch = said_.prefetch.value_or(settings_.prefetch);
    settings_.on_error = said_.on_error.value_or(settings_.on_error);
    return params.flow.node.is_list() ? build_list(params.flow.node) : build_top(params.flow.node);
  }
  const FlowSettings& settings() const { return settings_; }
  /// The components built so far.
  const std::vector<FlowPart>& parts() const { return parts_; }

 private:
  /// A list being built, up to and including one of its items.
  struct ListState {
    FlowPtr flow;                     // names of the items so far
    bool first = true;                // the next item is the first
    bool good = true;                 // no mistake so far
    bool guarded = false;             // on_error was applied
    std::map<std::string, int> seen;  // number of components of each type, for their names
    std::vector<ConfigNode> before;   // the items so far
  };

  FlowPtr build_named(const ConfigNode& name) {
    const auto found = scope_.find(name.text());
    if (found == scope_.end()) {
      if (ComponentTable::of(Source::kKind).find(name.text()) != nullptr) {
        errors_.add(name.position(), "'" + name.text() +
                                         "' is a source, not the name of a flow; write the list [" +
                                         name.text() + "]");
        return nullptr;
      }
      std::vector<std::string> known;
      for (const auto& [flow, node] : scope_) known.push_back(flow);
      errors_.add(unknown_reference("flow", name.text(), name.position(), known), name.position());
      return nullptr;
    }
    if (std::find(open_.begin(), open_.end(), name.text()) != open_.end()) {
      errors_.add(name.position(), "the flow '" + name.text() + "' contains itself: " + join(open_, " -> ") +
                                       " -> " + name.text());
      return nullptr;
    }
    open_.push_back(name.text());
    FlowPtr flow = build_top(found->second);
    open_.pop_back();
    return flow;
  }

  FlowPtr build_list(const ConfigNode& list) {
    if (list.size() == 0) {
      errors_.add(list.position(), "a flow needs at least a source, as in [Mnist: {split: train}]");
      return nullptr;
    }
    ListState state;
    state.guarded = settings_.on_error == OnError::kStop;
    for (const ConfigNode& item : list.items()) {
      // After a mistake the remaining items are still read, so that their mistakes are reported too.
      state.flow = add_item(item, state);
      state.good = state.good && state.flow != nullptr;
      state.first = false;
      state.before.push_back(item);
    }
    if (!state.good) return nullptr;
    return state.guarded ? state.flow : guard(state.flow, list.position(), settings_.on_error);
  }

  FlowPtr add_item(const ConfigNode& node, ListState& state) {
    try {
      const ComponentItem item = component_item(node, "component");
      const char* kind = kind_of_flow_component(item.name);
      if (kind == nullptr) throw unknown_component(item);
      const bool is_source = kind == std::string_view(Source::kKind);
      if (is_source != state.first) throw wrong_place(item, kind, state.first);
      if (is_source) return make_source(item, state);
      const StageContext context = context_of(item, kind, state.seen);
      return kind == std::string_view(Map::kKind) ? make_map(item, context, state)
                                                  : make_stage(item, context, state);
    } catch (const ConfigError& error) {
      errors_.add(error, node.position());
      return nullptr;
    }
  }

  FlowPtr make_source(const ComponentItem& item, ListState& state) {
    const std::shared_ptr<Source> source = Registry<Source>::make(item, errors_);
    if (source == nullptr) return nullptr;
    const ConfigNode* inner = source->part<WrappingSource>().inner();
    const StageContext context = context_of(inner == nullptr ? item : component_item(*inner, Source::kKind),
                                            Source::kKind, state.seen);
    source->follow(fit_, context.name);
    if (!source->knows_spec()) {
      waits_for_data_ = waits_for_data_ || opening_ == Opening::kNot;
      if (opening_ == Opening::kNot) return nullptr;
      source->prepare_once(item.position);
    }
    const std::string outer = context_name_;
    context_name_ = context.name;
    FlowPtr flow = source->flow(context, *this);
    context_name_ = outer;
    parts_.push_back({context.name, context.position});
    return flow;
  }
  FlowPtr make_map(const ComponentItem& item, const StageContext& context, const ListState& state) {
    std::shared_ptr<Map> map = Registry<Map>::make(item, errors_);
    if (map == nullptr || !state.good) return nullptr;
    parts_.push_back({context.name, context.position});
    try {
      return std::make_shared<MapFlow>(state.flow, std::move(map), context,
                                       MapFlow::Fitting{fit_, settings_.on_error != OnError::kStop});
    } catch (const UnknownClasses&) {
      state.flow->prepare();  // it may explain why they are unknown
      throw;
    }
  }
  FlowPtr make_stage(const ComponentItem& item, StageContext context, ListState& state) {
    const auto stage = Registry<Stage>::make(item, errors_);
    if (stage == nullptr) return nullptr;
    if (stage->keeps_samples()) context.before = text_of(state.before);
    stage->configure(settings_);  // also for a flow that is built later
    if (in_join_ && stage->reorders()) {
      throw ConfigError(item.position, item.name +
                                           " inside JoinData would separate samples that belong "
                                           "together; put it after the JoinData");
    }
    if (!state.good) return nullptr;
    if (stage->keeps_samples() && !state.guarded && state.flow->access() != Access::kIndexed) {
      // It reads all samples at once, before on_error is applied to those that it gives.
      state.flow = guard(state.flow, item.position, OnError::kSkip);
      context.before += "\non_error";
    }
    FlowPtr flow = stage->wrap(state.flow, context);
    if (flow != state.flow) parts_.push_back({context.name, context.position});
    if (state.guarded || dynamic_cast<const BatchedFlow*>(flow.get()) == nullptr) return flow;
    state.guarded = true;  // whole batches have no policy: it was applied to their samples
    return stage->wrap(guard(state.flow, item.position, settings_.on_error), context);
  }
  FlowPtr guard(const FlowPtr& flow, const Position& where, OnError policy) {
    if (in_join_) {
      throw ConfigError(where,
                        "'on_error' of a flow inside JoinData would separate samples that belong "
                        "together; set it for the flow that has the JoinData");
    }
    try {
      return std::make_shared<GuardedFlow>(flow, policy, bad_);
    } catch (const ConfigError& error) {
      throw ConfigError(where, error.what());
    }
  }

  StageContext context_of(const ComponentItem& item, const char* kind,
                          std::map<std::string, int>& seen) const {
    const std::string type = snake_case(ComponentTable::of(kind).at(item.name, item.position).name);
    const std::string name = prefix_ + type + "_" + std::to_string(seen[type]++);
    return {name, stable_hash(name), item.position, in_join_ || order_ == SampleOrder::kOfData};
  }
  /// Items of a list and all flows that they name, with their parameters.
  std::string text_of(const std::vector<ConfigNode>& items) const {
    const ConfigNode all = ConfigNode::list(items);
    std::string text = to_json(Codec<FlowField>::dump({all}));
    std::set<std::string> told;
    for (bool is_new = true; is_new;) {
      is_new = false;
      std::set<std::string> named = flows_named_in(all);
      for (const std::string& name : told)
        if (const auto found = scope_.find(name); found != scope_.end())
          named.merge(flows_named_in(found->second));
      for (const std::string& name : named) {
        const auto found = scope_.find(name);
        if (found == scope_.end() || !told.insert(name).second) continue;
        text += "\n" + name + ": " + to_json(Codec<FlowField>::dump({found->second}));
        is_new = true;
      }
    }
    return text;
  }
  static ConfigError wrong_place(const ComponentItem& item, const std::string& kind, bool first) {
    if (first) {
      return {item.position,
              "a flow must start with a source, but " + item.name + " is a " + kind +
                  "; put a source before it, such as ImageFolder: photos; for a part of the data of "
                  "data.train, add split: 0.2 to the config"};
    }
    return {
        item.position,
        "source " + item.name +
            " must be the first item of a flow; use JoinData to join the components of flows, ConcatData or "
            "RandomMixData for the samples of several"};
  }
  static ConfigError unknown_component(const ComponentItem& item) {
    std::vector<std::string> names;
    for (const char* kind : {Source::kKind, Map::kKind, Stage::kKind}) {
      for (const ComponentInfo* info : ComponentTable::of(kind).list()) {
        names.push_back(info->name);
        names.insert(names.end(), info->aliases.begin(), info->aliases.end());
      }
    }
    std::string meant = advice_on("component of a flow", item.name);
    if (meant.empty()) meant = advice_on_part(item.name);
    if (meant.empty()) meant = did_you_mean(item.name, names);
    return {item.position, "unknown source, map or stage '" + item.name + "'" +
                               (meant.empty() ? "; `tpack list` lists all" : meant)};
  }
  /// Augmentors and functions of MapData are parts of components.
  static std::string advice_on_part(const std::string& name) {
    if (ComponentTable::of(Augmentor::kKind).find(name) != nullptr)
      return "; it is an augmentor; write AugmentImageComponent: [" + name + "]";
    if (ComponentTable::of(TensorMap::kKind).find(name) != nullptr)
      return "; it is a function of one component; write MapData: {component: ..., map: {" + name + ": ...}}";
    return "";
  }

  const FlowScope& scope_;
  Diagnostics& errors_;
  std::shared_ptr<BadSamples> bad_;
  std::shared_ptr<Fit> fit_;
  SampleOrder order_;
  Opening opening_;
  bool waits_for_data_ = false;
  bool in_join_ = false;  // the flow being built is part of a JoinData
  FlowSettings settings_;
  FlowParams said_;           // of the settings, outermost first
  std::string prefix_;        // prefix of the names of this list's components
  std::string context_name_;  // the component whose flows are being built
  std::vector<FlowPart> parts_ = {};
  std::vector<std::string> open_ = {};  // named flows being built, outermost first
};

}  // namespace

std::optional<DataFlow> make_flow(const ConfigNode& node, const FlowScope& scope, Diagnostics& errors,
                                  const std::shared_ptr<Fit>& fit, SampleOrder order) {
  const size_t before = errors.count();
  auto bad = std::make_shared<BadSamples>();
  FlowMaker builder(scope, errors, bad, fit, order, Opening::kNot);
  FlowPtr flow = builder.build_or_report(node);
  if (errors.count() != before) return std::nullopt;
  if (flow != nullptr)
    return DataFlow({std::move(flow), builder.parts()}, builder.settings(), std::move(bad), node.position());
  if (!builder.waits_for_data()) return std::nullopt;
  const auto complete = [node, scope, bad, fit, order] {
    Diagnostics mistakes;
    FlowMaker opening(scope, mistakes, bad, fit, order, Opening::kThose);
    FlowPtr built = opening.build_or_report(node);
    mistakes.throw_if_any();
    TPACK_ASSERT(built != nullptr, "a flow that was not made and not reported");
    return DataFlow::Built{built, opening.parts()};
  };
  return DataFlow(complete, builder.settings(), std::move(bad), node.position());
}

DataFlow make_flow(const ConfigNode& node, const FlowScope& scope) {
  Diagnostics errors;
  auto flow = make_flow(node, scope, errors);
  errors.throw_if_any();
  TPACK_ASSERT(flow.has_value(), "a flow that was not made and not reported");
  return std::move(*flow);
}

FieldType Codec<FlowField>::type() { return FieldType::section(flow_schema().fields(), "a flow", "flow"); }

}  // namespace tpack
