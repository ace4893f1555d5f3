#include <algorithm>
#include <exception>

#include "core/error.h"
#include "core/registry.h"
#include "dataflow/flow_field.h"
#include "dataflow/source.h"

namespace tpack {
namespace {

/// Moves the components of the parts, one after the other, out of the children of `out`.
void gather(Datapoint& out, const std::vector<FlowPtr>& flows) {
  out.set_id(out.child(0).id());
  size_t at = 0;
  for (size_t part = 0; part < flows.size(); ++part) {
    Datapoint& child = out.child(part);
    for (size_t i = 0; i < child.size(); ++i) out.swap_component(at++, child, i);
  }
}

class JoinedCursor final : public Cursor {
 public:
  JoinedCursor(const std::vector<FlowPtr>& flows, size_t components, const PassKey& pass)
      : flows_(flows), components_(components) {
    for (const FlowPtr& flow : flows) cursors_.push_back(flow->open(pass));
  }
  bool next(Datapoint& out) override {
    std::exception_ptr bad;  // the other parts skip what belongs to the bad sample
    for (size_t i = 0; i < cursors_.size(); ++i) {
      try {
        if (!cursors_[i]->next(out.child(i))) return false;
      } catch (...) {
        if (!bad) bad = std::current_exception();
      }
    }
    if (bad) std::rethrow_exception(bad);
    out.resize(components_);
    gather(out, flows_);
    return true;
  }
  int64_t skip(int64_t count) override {
    int64_t least = count;
    for (const auto& cursor : cursors_) least = std::min(least, cursor->skip(count));
    return least;
  }

 private:
  const std::vector<FlowPtr>& flows_;
  size_t components_;
  std::vector<std::unique_ptr<Cursor>> cursors_;
};

class JoinedFlow final : public Flow {
 public:
  explicit JoinedFlow(std::vector<FlowPtr> flows, const StageContext& context) : flows_(std::move(flows)) {
    std::vector<ComponentSpec> components;
    for (const FlowPtr& flow : flows_) {
      for (const ComponentSpec& component : flow->spec()) {
        if (Spec(components).find(component.name)) {
          throw ConfigError(context.position, "JoinData: two of its flows have a component '" +
                                                  component.name + "'; leave one out with SelectComponent");
        }
        components.push_back(component);
      }
    }
    spec_ = Spec(std::move(components));
  }

  const Spec& spec() const override { return spec_; }
  Access access() const override {
    const bool indexed = std::all_of(flows_.begin(), flows_.end(),
                                     [](const auto& f) { return f->access() == Access::kIndexed; });
    return indexed ? Access::kIndexed : Access::kSequential;
  }
  Seek seek() const override {
    Seek worst = Seek::kExact;
    for (const FlowPtr& flow : flows_) worst = std::max(worst, flow->seek());
    return worst;
  }
  std::optional<int64_t> size() const override {
    int64_t least = kEndless;
    for (const FlowPtr& flow : flows_) {
      const auto size = flow->size();
      if (!size) return std::nullopt;
      least = std::min(least, *size);
    }
    return least;
  }
  int64_t places() const override { return *size(); }
  void prepare() const override {
    for (const FlowPtr& flow : flows_) flow->prepare();
  }
  std::vector<const Source*> sources() const override {
    std::vector<const Source*> all;
    for (const FlowPtr& flow : flows_) {
      const std::vector<const Source*> part = flow->sources();
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }
  std::string file_of(const SampleId& id) const override { return flows_.front()->file_of(id); }
  bool get(const PassKey& pass, int64_t place, Datapoint& out) const override {
    for (size_t i = 0; i < flows_.size(); ++i) flows_[i]->get(pass, place, out.child(i));
    out.resize(spec_.size());
    gather(out, flows_);
    return true;
  }
  std::unique_ptr<Cursor> open(const PassKey& pass) const override {
    if (access() == Access::kIndexed) return cursor_by_place(*this, pass);
    return std::make_unique<JoinedCursor>(flows_, spec_.size(), pass);
  }

 private:
  std::vector<FlowPtr> flows_;
  Spec spec_;
};

struct JoinDataParams {
  std::vector<FlowField> flows;
};

/// Source: tensorpack dataflow/common.py, JoinData.
class JoinData final : public Source {
 public:
  using Params = JoinDataParams;
  static Schema<Params> schema() {
    return Schema<Params>("Joins the components of several flows; ends with the shortest flow.")
        .example("JoinData: [images, labels]")
        .field("flows", &Params::flows, "the flows, each a list of components or the name of a flow")
        .required()
        .shorthand();
  }
  explicit JoinData(Params p) : p_(std::move(p)) {
    if (p_.flows.empty()) throw ConfigError("JoinData: 'flows' is empty; name at least one flow");
  }

  FlowPtr flow(const StageContext& context, FlowBuilder& builder) override {
    std::vector<FlowPtr> flows;
    for (const FlowField& field : p_.flows) {
      flows.push_back(builder.build(field, std::to_string(flows.size())));
    }
    if (std::find(flows.begin(), flows.end(), nullptr) != flows.end()) return nullptr;
    return std::make_shared<JoinedFlow>(std::move(flows), context);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Source, JoinData, "JoinData");

}  // namespace
}  // namespace tpack
