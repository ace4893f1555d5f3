#include <algorithm>

#include "core/error.h"
#include "core/registry.h"
#include "dataflow/flow_field.h"
#include "dataflow/joined_flow.h"
#include "dataflow/source.h"

namespace tpack {
namespace {

struct JoinDataParams {
  std::vector<FlowField> flows;
  bool shortest = false;
};

/// Source: tensorpack dataflow/common.py, JoinData.
class JoinData final : public Source {
 public:
  using Params = JoinDataParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Joins the components of several flows: sample k consists of sample k of each flow. If the "
               "sources shuffle, all use the same order. If two flows have a component of the same name, the "
               "later one gets the number of its flow: image, image_2.")
        .example("JoinData: [images, labels]")
        .field("flows", &Params::flows, "the flows, each a list of components or the name of a flow")
        .required()
        .shorthand()
        .field("shortest", &Params::shortest,
               "true: end with the shortest flow; false: flows of different lengths are an error");
  }
  explicit JoinData(Params p) : p_(std::move(p)) {
    if (p_.flows.empty()) throw ConfigError("JoinData: 'flows' is empty; name at least one flow");
  }

  FlowPtr flow(const StageContext& context, FlowBuilder& builder) override {
    std::vector<FlowPtr> flows;
    for (const FlowField& field : p_.flows) {
      flows.push_back(builder.build(field, std::to_string(flows.size()), PartOrder::kOfOwner));
    }
    if (std::find(flows.begin(), flows.end(), nullptr) != flows.end()) return nullptr;
    return joined_flow(std::move(flows), p_.shortest ? Lengths::kMinLength : Lengths::kEqual, context,
                       "JoinData");
  }

 private:
  Params p_;
};

TPACK_REGISTER(Source, JoinData, "JoinData");

}  // namespace
}  // namespace tpack
