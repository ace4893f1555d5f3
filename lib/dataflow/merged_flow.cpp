#include "dataflow/merged_flow.h"

#include <algorithm>

#include "core/error.h"
#include "core/text.h"
#include "dataflow/batched_flow.h"
#include "dataflow/flow_field.h"
#include "dataflow/part_times.h"

namespace tpack {
namespace {

std::vector<std::string> names_of(const Spec& spec) {
  std::vector<std::string> names;
  for (const ComponentSpec& component : spec) names.push_back(component.name);
  return names;
}

/// The first difference of two components, apart from sizes and class names: "has type float32, not int32";
/// empty if there is none.
std::string difference(const ComponentSpec& a, const ComponentSpec& b) {
  if (a.tensor.dtype != b.tensor.dtype)
    return std::string("has type ") + name_of(b.tensor.dtype) + ", not " + name_of(a.tensor.dtype) +
           "; convert it with MapData: {component: " + b.name + ", map: {Cast: " + name_of(a.tensor.dtype) +
           "}}";
  if (a.tensor.shape.rank() != b.tensor.shape.rank())
    return "has shape " + b.tensor.shape.str() + ", not " + a.tensor.shape.str();
  if (a.is_image != b.is_image)
    return b.is_image ? "is an image, but numbers in flow 1" : "is not an image, but one in flow 1";
  if (a.is_image && (a.depth != b.depth || a.frames != b.frames))
    return "has another depth or number of frames; set `depth` and `frames` of both sources alike";
  if (a.annotation != b.annotation || a.mirror_pairs != b.mirror_pairs)
    return "is another kind of annotation, or has other mirror_pairs";
  if (a.is_mixed_label != b.is_mixed_label) return "has mixed labels only in one of the flows";
  return "";
}

Shape common_shape(const Shape& a, const Shape& b) {
  Shape shape = a;
  for (int axis = 0; axis < static_cast<int>(a.rank()); ++axis)
    if (a[axis] != b[axis]) shape = shape.with(axis, Shape::kUnknown);
  return shape;
}

}  // namespace

MergedFlow::MergedFlow(std::vector<FlowPtr> flows, StageContext context, std::string owner)
    : flows_(std::move(flows)),
      context_(std::move(context)),
      owner_(std::move(owner)),
      spec_(common_spec()) {}

/// Sizes that differ are unknown.
Spec MergedFlow::common_spec() const {
  Spec spec = flows_[0]->spec();
  for (size_t k = 0; k < flows_.size(); ++k) {
    const std::string flow = "flow " + std::to_string(k + 1);
    const Spec& other = flows_[k]->spec();
    if (batched_of(*flows_[k]) != nullptr)
      throw mistake(flow + " has batches; put the " + batched_of(*flows_[k])->context().name + " after the " +
                    owner_);
    if (names_of(other) != names_of(spec))
      throw mistake(flow + " has the components " + join(names_of(other), ", ") + ", but flow 1 has " +
                    join(names_of(spec), ", ") + "; give all flows the same components, in one order, with " +
                    "RenameComponents and SelectComponent: [" + join(names_of(spec), ", ") + "]");
    for (size_t i = 0; i < spec.size(); ++i) {
      if (const std::string text = difference(spec[i], other[i]); !text.empty())
        throw mistake("component '" + spec[i].name + "' of " + flow + " " + text);
      spec[i].tensor.shape = common_shape(spec[i].tensor.shape, other[i].tensor.shape);
      if (spec[i].classes.empty()) spec[i].classes = other[i].classes;
      if (spec[i].ignored != other[i].ignored) spec[i].ignored = std::nullopt;
    }
  }
  return spec;
}

Access MergedFlow::access() const {
  Access worst = Access::kIndexed;
  for (const FlowPtr& flow : flows_) worst = std::max(worst, flow->access());
  return worst;
}

Seek MergedFlow::seek() const {
  Seek worst = access() == Access::kIndexed ? Seek::kExact : Seek::kReplayReads;
  for (const FlowPtr& flow : flows_) worst = std::max(worst, flow->seek());
  return worst;
}

int64_t MergedFlow::places() const {
  int64_t all = 0;
  for (const FlowPtr& flow : flows_) {
    const int64_t places = flow->places();
    if (places == kEndless || all > kEndless - places) return kEndless;
    all += places;
  }
  return all;
}

std::string MergedFlow::repeats() const {
  for (const FlowPtr& flow : flows_)
    if (std::string why = flow->repeats(); !why.empty()) return why;
  return {};
}

void MergedFlow::prepare() const {
  for (const FlowPtr& flow : flows_) flow->prepare();
  for (size_t i = 0; i < spec_.size(); ++i) {
    const ComponentSpec& first = flows_[0]->spec()[i];
    for (size_t k = 1; k < flows_.size(); ++k) {
      const ComponentSpec& other = flows_[k]->spec()[i];
      if (first.classes.empty() || other.classes.empty() || first.classes == other.classes) continue;
      throw mistake("component '" + first.name + "' of flow " + std::to_string(k + 1) + " has the classes " +
                    join_first(other.classes) + ", but flow 1 has " + join_first(first.classes) +
                    ", so their numbers would mean different things; give both sources the same classes");
    }
  }
}

std::vector<const Source*> MergedFlow::sources() const {
  std::vector<const Source*> all;
  for (const FlowPtr& flow : flows_) {
    const std::vector<const Source*> part = flow->sources();
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

std::map<std::string, State> MergedFlow::learned() const {
  std::map<std::string, State> all;
  for (const FlowPtr& flow : flows_) all.merge(flow->learned());  // their names differ
  return all;
}

/// A sample without a file is named by its number in its flow, which is not its index here.
std::string MergedFlow::file_of(const SampleId& id) const {
  const auto count = std::ssize(flows_);
  const auto flow = static_cast<size_t>(id.index % count);
  const SampleId own{id.pass, id.index / count, id.repeat};
  const std::string file = flows_[flow]->file_of(own);
  return file.empty() ? sample_name(*flows_[flow], own) + " of flow " + std::to_string(flow + 1) : file;
}

bool MergedFlow::get(const PassKey& pass, int64_t place, Datapoint& out) const {
  const PartTimer timer(context_.name, &out);
  const auto from = locate(pass, place);
  if (!from || !flows_[from->flow]->get(pass, from->place, out)) return false;
  number(out, from->flow);
  return true;
}

void MergedFlow::number(Datapoint& sample, size_t flow) const {
  SampleId id = sample.id();
  id.index = id.index * std::ssize(flows_) + static_cast<int64_t>(flow);
  sample.set_id(id);
}

std::optional<MergedFlow::From> MergedFlow::in_order(int64_t place) const {
  for (size_t k = 0; k < flows_.size(); ++k) {
    const int64_t places = flows_[k]->places();
    if (place < places) return From{k, place};
    place -= places;
  }
  return std::nullopt;
}

std::vector<FlowPtr> build_flows(const std::vector<FlowField>& fields, FlowBuilder& builder) {
  std::vector<FlowPtr> flows;
  for (const FlowField& field : fields)
    flows.push_back(builder.build(field, std::to_string(flows.size()), PartOrder::kOwn));
  if (std::find(flows.begin(), flows.end(), nullptr) != flows.end()) flows.clear();
  return flows;
}

}  // namespace tpack
