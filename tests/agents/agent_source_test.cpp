#include "agents/agent_source.h"

#include "agents/scripted_predictor.h"
#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

DataFlow flow_of(const std::string& yaml) { return make_flow(parse_yaml(yaml, "flow.yaml")); }

TEST(AgentSource, is_read_by_training_alone) {
  const DataFlow flow = flow_of("[ExpReplay: {environment: Catch, values: q}]");
  Datapoint sample;
  try {
    flow.open({})->next(sample);
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("flow.yaml:1:2: this source plays with the model"));
  }
}

TEST(AgentSource, has_only_batches_behind_it) {
  EXPECT_NE(agent_source_of(
                *flow_of("[ExpReplay: {environment: Catch, values: q}, BatchData: {batch_size: 3}]").flow()),
            nullptr);
  EXPECT_EQ(agent_source_of(*flow_of("[Counting: 9, BatchData: {batch_size: 3}]").flow()), nullptr);
  EXPECT_THROW(agent_source_of(*flow_of("[ExpReplay: {environment: Catch, values: q}]").flow()), ConfigError);
  EXPECT_THROW(agent_source_of(*flow_of("[ExpReplay: {environment: Catch, values: q}, LocallyShuffleData: "
                                        "{buffer_size: 10}, BatchData: {batch_size: 3}]")
                                    .flow()),
               ConfigError);
}

TEST(AgentSource, gives_each_sample_once) {
  PlayedFlow played("ExpReplay: {environment: Catch, values: q, init_memory_size: 50}");
  ScriptedPredictor predictor([](const Tensor& boards) { return std::vector{follow_the_ball(boards)}; });
  played.agent.begin(predictor);
  numbers_of(played, 3);
  EXPECT_EQ(played.agent.given(), 12);
  Datapoint batch;
  EXPECT_THROW(played.flow.open({})->next(batch), InternalError) << "from the beginning again";
}

}  // namespace
}  // namespace tpack
