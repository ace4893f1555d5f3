#include "learner/update_section.h"

#include <algorithm>

#include "core/schema.h"
#include "model/model.h"

namespace tpack {
namespace {

constexpr const char* kGan = "GAN";
constexpr double kMaxPerRound = 1e6;  // so that a round has far fewer than 2^63

struct UpdateParams {
  Ref<CostName> cost = {kCost, {}};
  VariablePatterns variables;
  Slot<Optimizer> optimizer;
  int64_t every = 1;
  std::optional<int64_t> steps;
};

Schema<UpdateParams> update_schema() {
  return Schema<UpdateParams>("One update of a training step.")
      .field("cost", &UpdateParams::cost, "name of the cost to minimize")
      .field("variables", &UpdateParams::variables,
             "variables to train: a regular expression for whole names of trainable variables "
             "(discriminator/.*/W) or a name with everything below it; one of them or a list; default: all")
      .field("optimizer", &UpdateParams::optimizer, "how the variables are updated")
      .required()
      .field("every", &UpdateParams::every, at_least(1), "run in every N-th step, beginning with the first")
      .field("steps", &UpdateParams::steps, between(1, kMaxPerRound),
             "number of steps of this update per round: updates take turns in their order, so each step runs "
             "one update, on its own batch; default: each step runs all updates one after the other");
}

/// tensorpack's GANTrainer (joint) and SeparateGANTrainer.
struct GanParams {
  Slot<Optimizer> optimizer;
  int64_t d_period = 1;
  int64_t g_period = 1;
  bool joint = false;
  Ref<CostName> d_cost = {"d", {}};
  Ref<CostName> g_cost = {"g", {}};
  VariablePatterns d_variables = {{{"discriminator", {}}}};
  VariablePatterns g_variables = {{{"generator", {}}}};
};

Schema<GanParams> gan_schema() {
  return Schema<GanParams>("Trains two networks against each other.")
      .field("optimizer", &GanParams::optimizer, "how the variables of both networks are updated")
      .required()
      .field("d_period", &GanParams::d_period, between(1, kMaxPerRound),
             "generator steps per discriminator step; one of the two periods must be 1")
      .field("g_period", &GanParams::g_period, between(1, kMaxPerRound),
             "discriminator steps per generator step")
      .field("joint", &GanParams::joint,
             "true: each step trains both, on the same batch; false: they take turns, each on its own batch")
      .field("d_cost", &GanParams::d_cost, "cost of the discriminator")
      .field("g_cost", &GanParams::g_cost, "cost of the generator")
      .field("d_variables", &GanParams::d_variables, "variables of the discriminator")
      .field("g_variables", &GanParams::g_variables, "variables of the generator");
}

/// Names that are not in the config are those of the short form, at its position.
Ref<CostName> placed(Ref<CostName> cost, const Position& position) {
  if (!cost.position.known()) cost.position = position;
  return cost;
}
VariablePatterns placed(VariablePatterns patterns, const Position& position) {
  for (Ref<VariablePattern>& pattern : patterns.all) {
    if (!pattern.position.known()) pattern.position = position;
  }
  return patterns;
}

std::vector<UpdateSection> expanded(const GanParams& p, const Position& position) {
  UpdateSection d{.name = "d",
                  .cost = placed(p.d_cost, position),
                  .variables = placed(p.d_variables, position),
                  .optimizer = p.optimizer,
                  .position = position};
  UpdateSection g{.name = "g",
                  .cost = placed(p.g_cost, position),
                  .variables = placed(p.g_variables, position),
                  .optimizer = p.optimizer,
                  .position = position};
  if (p.joint) {
    d.every = p.d_period;
    g.every = p.g_period;
  } else {
    d.steps = p.g_period;
    g.steps = p.d_period;
  }
  return {std::move(d), std::move(g)};
}

/// The position of a key of a map, or of the map if it does not have the key.
Position position_in(const ConfigNode& map, const char* key) {
  const ConfigNode* value = map.is_map() ? map.find(key) : nullptr;
  return value == nullptr ? map.position() : value->position();
}

/// Reads `updates` and reports all mistakes.
class UpdatesReader {
 public:
  explicit UpdatesReader(Diagnostics& errors) : errors_(errors) {}

  std::vector<UpdateSection> read(const ConfigNode& updates) {
    if (const ConfigNode* gan = updates.find(kGan)) {
      read_gan(*gan, updates);
    } else {
      for (const ConfigNode::Entry& entry : updates.entries()) read_update(entry);
      check_turns(updates);
    }
    return std::move(sections_);
  }

 private:
  void read_gan(const ConfigNode& gan, const ConfigNode& updates) {
    Position position;
    for (const ConfigNode::Entry& entry : updates.entries()) {
      if (entry.key == kGan) {
        position = entry.key_position;
      } else {
        errors_.add(entry.key_position,
                    "'updates' has GAN, which is short for the updates d and g; remove '" + entry.key +
                        "', or write all updates without GAN");
      }
    }
    const GanParams p = gan_schema().parse(gan, kGan, errors_);
    if (p.d_period > 1 && p.g_period > 1) {
      errors_.add(position_in(gan, "g_period"),
                  "'d_period' and 'g_period' of GAN are " + std::to_string(p.d_period) + " and " +
                      std::to_string(p.g_period) +
                      ", but one of them must be 1; for other ratios, write two updates with 'steps'");
    }
    sections_ = expanded(p, position);
  }

  void read_update(const ConfigNode::Entry& entry) {
    const std::string owner = "update " + entry.key;
    if (!is_model_name(entry.key))
      errors_.add(entry.key_position,
                  "invalid update name '" + entry.key + "'; use letters, digits, '_', '-' and '.'");
    const UpdateParams p = update_schema().parse(entry.value, owner, errors_);
    const ConfigNode* variables = entry.value.is_map() ? entry.value.find("variables") : nullptr;
    if (variables != nullptr && variables->is_list() && variables->size() == 0) {
      errors_.add(variables->position(),
                  "'variables' of " + owner +
                      ": an empty list; name variables, or remove the update to freeze "
                      "them");
    }
    sections_.push_back({entry.key, p.cost, p.variables, p.optimizer, p.every, p.steps, entry.key_position});
  }

  /// Either all updates take turns or none.
  void check_turns(const ConfigNode& updates) {
    const auto with = std::find_if(sections_.begin(), sections_.end(), [](const auto& s) { return s.steps; });
    if (with == sections_.end()) return;
    for (const UpdateSection& section : sections_) {
      const ConfigNode& node = *updates.find(section.name);
      if (!section.steps) {
        errors_.add(section.position, "update " + section.name + ": 'steps' is missing, but update " +
                                          with->name + " has it; set it for every update, or for none");
      } else if (section.every > 1) {
        errors_.add(position_in(node, "every"),
                    "'every' of update " + section.name +
                        ": the updates take turns ('steps'); remove 'every' or 'steps'");
      }
    }
  }

  Diagnostics& errors_;
  std::vector<UpdateSection> sections_;
};

}  // namespace

FieldType Codec<VariablePatterns>::type() {
  const FieldType pattern = Codec<Ref<VariablePattern>>::type();
  FieldType type = FieldType::either({pattern, FieldType::list_of(pattern)}, "a pattern, or a list of them");
  type.nullable = true;
  return type;
}

std::optional<VariablePatterns> Codec<VariablePatterns>::parse(const ConfigNode& node, Reader& reader) {
  if (node.is_null()) return VariablePatterns{};
  auto all = Codec<std::vector<Ref<VariablePattern>>>::parse(
      node.is_list() ? node : ConfigNode::list({node}, node.position()), reader);
  return all ? std::optional(VariablePatterns{std::move(*all)}) : std::nullopt;
}

ConfigNode Codec<VariablePatterns>::dump(const VariablePatterns& patterns) {
  return patterns.all.empty() ? ConfigNode() : Codec<std::vector<Ref<VariablePattern>>>::dump(patterns.all);
}

FieldType Codec<std::vector<UpdateSection>>::type() {
  return FieldType::map_of(FieldType::section(update_schema().fields(), "an update"), "updates by name",
                           {{.name = kGan,
                             .type = FieldType::section(gan_schema().fields(), "two updates"),
                             .doc = "short form of two updates, d and g, which train the discriminator and "
                                    "the generator of a GAN"}});
}

std::optional<std::vector<UpdateSection>> Codec<std::vector<UpdateSection>>::parse(const ConfigNode& node,
                                                                                   Reader& reader) {
  Diagnostics& errors = reader.errors();
  const size_t before = errors.count();
  if (!node.is_map() && !node.is_null()) {
    errors.add(node.position(),
               "'updates': expected a map of updates by name ({NAME: {optimizer: ...}}), found " +
                   node.describe() + "; for a single update use 'optimizer'");
    return std::nullopt;
  }
  if (node.is_null()) return std::vector<UpdateSection>{};
  std::vector<UpdateSection> updates = UpdatesReader(errors).read(node);
  return errors.count() == before ? std::optional(std::move(updates)) : std::nullopt;
}

ConfigNode Codec<std::vector<UpdateSection>>::dump(const std::vector<UpdateSection>& updates) {
  std::vector<ConfigNode::Entry> entries;
  for (const UpdateSection& update : updates) {
    entries.push_back(
        {update.name,
         update_schema().dump({update.cost, update.variables, update.optimizer, update.every, update.steps}),
         update.position});
  }
  return ConfigNode::map(std::move(entries));
}

std::vector<UpdateSchedule> update_schedules(const std::vector<UpdateSection>& updates) {
  std::vector<UpdateSchedule> schedules;
  int64_t round = 0;
  for (const UpdateSection& update : updates) {
    schedules.push_back(update.steps ? UpdateSchedule{.first = round, .steps = *update.steps}
                                     : UpdateSchedule{.round = update.every});
    round += update.steps.value_or(0);
  }
  for (size_t i = 0; i < schedules.size(); ++i) {
    if (updates[i].steps) schedules[i].round = round;
  }
  return schedules;
}

}  // namespace tpack
