#include "agents/agent_source.h"

#include "dataflow/batched_flow.h"

namespace tpack {
namespace {

class AgentCursor final : public Cursor {
 public:
  AgentCursor(const AgentSource& source, Position where, SampleId first)
      : source_(source), where_(std::move(where)), id_(first) {}

  bool next(Datapoint& out) override {
    Agent* agent = source_.agent();
    if (agent == nullptr)
      throw ConfigError(where_,
                        "this source plays with the model while it trains, so only training can read it; use "
                        "it in data.train");
    TPACK_ASSERT(agent->given() == id_.index, "the samples of an agent come only once and in one order");
    out.set_id(id_);
    ++id_.index;
    agent->next(out);
    return true;
  }
  int64_t skip(int64_t count) override {
    id_.index += count;
    return count;
  }

 private:
  const AgentSource& source_;
  const Position where_;
  SampleId id_;
};

class AgentFlow final : public Flow {
 public:
  AgentFlow(std::shared_ptr<const AgentSource> source, Position where)
      : source_(std::move(source)), where_(std::move(where)), spec_(source_->spec()) {}

  const Spec& spec() const override { return spec_; }
  Access access() const override { return Access::kSequential; }
  /// A checkpoint has the agent's state.
  Seek seek() const override { return Seek::kExact; }
  std::optional<int64_t> size() const override { return kEndless; }
  std::vector<const Source*> sources() const override { return {source_.get()}; }
  std::unique_ptr<Cursor> open(const PassKey& pass) const override {
    return std::make_unique<AgentCursor>(*source_, where_, SampleId{pass.pass, 0, pass.repeat});
  }

 private:
  std::shared_ptr<const AgentSource> source_;
  Position where_;
  Spec spec_;
};

}  // namespace

FlowPtr AgentSource::flow(const StageContext& context, FlowBuilder& /*builder*/) {
  return std::make_shared<AgentFlow>(std::static_pointer_cast<const AgentSource>(shared_from_this()),
                                     context.position);
}

Agent& AgentSource::start(uint64_t seed) const {
  agent_ = make_agent(seed);
  return *agent_;
}

const AgentSource* agent_source_of(const Flow& flow) {
  const std::vector<const Source*> sources = flow.sources();
  if (sources.size() != 1) return nullptr;
  const auto* source = dynamic_cast<const AgentSource*>(sources[0]);
  if (source == nullptr) return nullptr;
  const auto* batched = dynamic_cast<const BatchedFlow*>(&flow);
  if (batched == nullptr || dynamic_cast<const AgentFlow*>(&batched->up()) == nullptr)
    throw ConfigError(
        "only BatchData can follow a source that plays with the model; move other components into the model");
  return source;
}

}  // namespace tpack
