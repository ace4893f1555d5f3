#include "optim/lookahead.h"

#include "core/schema.h"
#include "optim/optimizer.h"

namespace tpack {
namespace {

constexpr const char* kSlow = "slow";
constexpr const char* kUpdatesSince =
    "lookahead_updates";  // since the last slow step, which counts as `steps`

Schema<Lookahead> lookahead_schema() {
  return Schema<Lookahead>("Slow weights.")
      .field("steps", &Lookahead::steps, between(1, 1000000), "updates before each step of the slow weights")
      .field("alpha", &Lookahead::alpha, between(0, 1),
             "share of the way to the parameters in a step of the slow weights; above 0");
}

}  // namespace

Symbol Lookahead::after(Builder& b, OptimizerState& state, Symbol before, Symbol updated) const {
  const Symbol since = state.number(kUpdatesSince);  // 0 only before the first update
  const auto all = static_cast<double>(steps);
  const Symbol now = b.select(b.greater_equal(since, all), 1.0, b.add(since, 1.0));
  state.assign_number(kUpdatesSince, now);
  const Symbol slow = b.select(b.greater(since, 0.0), state.slot(kSlow), before);
  const Symbol moves = b.greater_equal(now, all);
  const Symbol moved = b.select(moves, b.add(slow, b.mul(b.sub(updated, slow), alpha)), slow);
  state.assign_slot(kSlow, moved);
  return b.select(moves, moved, updated);
}

FieldType Codec<Lookahead>::type() {
  return FieldType::section(lookahead_schema().fields(), "a section {steps: ..., alpha: ...}");
}

std::optional<Lookahead> Codec<Lookahead>::parse(const ConfigNode& node, Reader& reader) {
  if (!node.is_map()) {
    reader.wrong_type(node, "{steps: 5, alpha: 0.5}");
    return std::nullopt;
  }
  const size_t known = reader.errors().count();
  const Lookahead lookahead = lookahead_schema().parse(node, reader.what(), reader.errors());
  if (reader.errors().count() != known) return std::nullopt;
  if (lookahead.alpha > 0) return lookahead;
  reader.fail(node, "'alpha' is 0, so no variable would change; must be above 0 and at most 1");
  return std::nullopt;
}

ConfigNode Codec<Lookahead>::dump(const Lookahead& lookahead) { return lookahead_schema().dump(lookahead); }

}  // namespace tpack
