// What sets hyper-parameters does the same on every rank, also where only the chief knows why.

#include <gmock/gmock-matchers.h>

#include "callbacks/give_scalar.h"
#include "config/yaml_reader.h"
#include "support/on_ranks.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

/// The learning rates of four steps, one an epoch, on two ranks; only the chief gets `cost`, which is 1.
std::vector<std::vector<float>> rates_on_two_ranks(const std::string& item, const std::string& folder) {
  return on_ranks(2, [&](int rank, const std::unique_ptr<Comm>& comm) {
    std::vector<float> rates;
    FakeRun run({.max_epoch = 4, .steps_per_epoch = 1}, rank == 0 ? folder : "");
    run.trainer.set_hyper_parameter("learning_rate", 1);
    run.trainer.on_step = [&](int64_t) { rates.push_back(static_cast<float>(run.trainer.learning_rate())); };
    run.options.world = comm.get();
    run.add("give", give("cost", {1, 1, 1, 1}));
    run.add("setter", Registry<Callback>::make_item(parse_yaml(item, "r.yaml"))).go();
    return rates;
  });
}

TEST(HyperParamRanks, follow_what_the_chief_knows) {
  const TemporaryFolder folder;
  write_content(folder / "hyper.txt", "learning_rate: 0.5");
  struct Case {
    std::string item;
    std::vector<float> rates;
  };
  for (const Case& c : std::vector<Case>{
           {"StatMonitorParamSetter: {param: learning_rate, monitor: cost, value: old / 2, threshold: 0, "
            "reverse: false, last_k: 2}",
            {1, 1, 0.5F, 0.5F}},
           {"HyperParamSetterWithFunc: {param: learning_rate, value: cost / 4 + epoch}",
            {1, 1.25F, 2.25F, 3.25F}},
           {"HumanHyperParamSetter: {param: learning_rate}", {0.5F, 0.5F, 0.5F, 0.5F}},
           {"EnableIf: {condition: cost == 1 and epoch > 1, callback: {HyperParamSetterWithFunc: {param: "
            "learning_rate, value: old / 2}}}",
            {0.5F, 0.5F, 0.25F, 0.125F}}})  // it begins before training
    EXPECT_THAT(rates_on_two_ranks(c.item, folder.str()), testing::Each(c.rates)) << c.item;
}

}  // namespace
}  // namespace tpack
