#include <algorithm>

#include "core/error.h"
#include "core/registry.h"
#include "dataflow/map.h"
#include "dataflow/sample_error.h"
#include "dataflow/sample_formula.h"

namespace tpack {
namespace {

struct NamedExpression {
  std::string name;
  SampleExpression expression;
};

}  // namespace

template <>
struct Codec<std::vector<NamedExpression>> {
  static FieldType type() {
    return FieldType::map_of(Codec<SampleExpression>::type(), "expressions by component");
  }
  static std::optional<std::vector<NamedExpression>> parse(const ConfigNode& node, Reader& reader) {
    if (!node.is_map()) {
      reader.wrong_type(node, "expressions by component, such as {area: width * height}");
      return std::nullopt;
    }
    std::vector<NamedExpression> all;
    for (const auto& [name, value, position] : node.entries()) {
      Reader entry("'" + name + "' of map Compute", {}, reader.errors());
      if (auto expression = Codec<SampleExpression>::parse(value, entry))
        all.push_back({name, std::move(*expression)});
    }
    return all.size() == node.size() ? std::optional(std::move(all)) : std::nullopt;
  }
  static ConfigNode dump(const std::vector<NamedExpression>& all) {
    std::vector<ConfigNode::Entry> entries;
    for (const NamedExpression& one : all)
      entries.push_back({one.name, Codec<SampleExpression>::dump(one.expression)});
    return ConfigNode::map(std::move(entries));
  }
};

namespace {

struct ComputeParams {
  std::vector<NamedExpression> components;
};

/// Source: tensorpack dataflow/common.py, MapData, with a function of the whole datapoint.
class Compute final : public Map {
 public:
  using Params = ComputeParams;
  static Schema<Params> schema() {
    static const std::string kDoc =
        "an expression for each component, in order; an existing component is replaced, and later "
        "expressions use the new values. Shapes broadcast as in NumPy. Integers stay integers except with "
        "`/`, `**` and functions of real numbers; comparisons are bool; everything else is float32. "
        "Expressions have " +
        SampleFormula::syntax() +
        "; min and max of one tensor, sum, mean, norm, argmax, any and all reduce it to one number. Put "
        "single quotes around names that are not words and around classes: species == 'setosa'";
    return Schema<Params>("Computes components from other components.")
        .example("Compute: {area: width * height, is_large: \"where(area > 100, 1, 0)\"}")
        .field("components", &Params::components, kDoc.c_str())
        .required()
        .shorthand();
  }
  explicit Compute(Params p) : p_(std::move(p)) {
    if (p_.components.empty()) throw ConfigError("Compute: no component is named; write {NAME: expression}");
  }

  std::optional<std::vector<std::string>> narrow(std::vector<std::string> wanted) override {
    std::vector<NamedExpression> kept;
    for (size_t i = p_.components.size(); i-- > 0;) {
      NamedExpression& one = p_.components[i];
      if (std::erase(wanted, one.name) == 0) continue;
      for (std::string& name : one.expression.components()) {
        if (std::find(wanted.begin(), wanted.end(), name) == wanted.end()) wanted.push_back(std::move(name));
      }
      kept.insert(kept.begin(), std::move(one));
    }
    p_.components = std::move(kept);
    return wanted;
  }

  Spec bind(const Spec& in) override {
    std::vector<ComponentSpec> all(in.begin(), in.end());
    for (const NamedExpression& one : p_.components) {
      const Spec before(all);
      SampleFormula formula(one.expression, before, "map Compute");
      const auto replaced = before.find(one.name);
      ComponentSpec made{one.name, formula.result()};
      if (const auto from = formula.copied()) {
        made = before[*from];
        made.name = one.name;
      } else if (replaced) {  // pixels stay pixels
        made.is_image =
            before[*replaced].is_image && before[*replaced].tensor.shape.rank() == made.tensor.shape.rank();
      }
      steps_.push_back({replaced.value_or(all.size()), std::move(formula)});
      if (!replaced) all.emplace_back();
      all[steps_.back().component] = std::move(made);
    }
    return Spec(std::move(all));
  }
  bool apply(Datapoint& d, const SampleKey& /*key*/) const override {
    for (const auto& [component, formula] : steps_) formula.store(d, component);
    return true;
  }

 private:
  struct Step {
    size_t component;
    SampleFormula formula;
  };

  Params p_;
  std::vector<Step> steps_;
};

TPACK_REGISTER(Map, Compute, "Compute");

}  // namespace
}  // namespace tpack
