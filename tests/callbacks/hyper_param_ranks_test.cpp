// What sets hyper-parameters does the same on every rank, also where only the chief knows why.
#include <thread>

#include <gmock/gmock.h>

#include "callbacks/give_scalar.h"
#include "comm/local_group.h"
#include "config/yaml_reader.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

using testing::ElementsAre;

/// The learning rates of four steps, one an epoch, on two ranks; only the chief gets `cost`, which is 1.
std::vector<std::vector<float>> rates_on_two_ranks(const std::string& item, const std::string& folder = "") {
  LocalGroup group(2, 30);
  std::vector<std::vector<float>> rates(2);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      const auto comm = group.member(rank);
      FakeTrainer trainer;
      trainer.set_hyper_parameter("learning_rate", 1);
      trainer.on_step = [&](int64_t) {
        rates[static_cast<size_t>(rank)].push_back(static_cast<float>(trainer.learning_rate()));
      };
      TestRun run({.max_epoch = 4, .steps_per_epoch = 1}, trainer);
      run.options.world = comm.get();
      if (rank == 0) run.options.folder = folder;
      run.add("give", std::make_unique<GiveScalar>("cost", std::vector<double>{1, 1, 1, 1}));
      run.add("setter", Registry<Callback>::make_item(parse_yaml(item, "r.yaml"))).go();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return rates;
}

TEST(HyperParamRanks, follow_a_statistic_of_the_chief) {
  const auto rates = rates_on_two_ranks(
      "StatMonitorParamSetter: {param: learning_rate, monitor: cost, value: old / 2, threshold: 0, reverse: "
      "false, last_k: 2}");
  EXPECT_THAT(rates[0], ElementsAre(1, 1, 0.5F, 0.5F));
  EXPECT_EQ(rates[1], rates[0]);
}

TEST(HyperParamRanks, follow_an_expression) {
  const auto rates =
      rates_on_two_ranks("HyperParamSetterWithFunc: {param: learning_rate, value: cost / 4 + epoch}");
  EXPECT_THAT(rates[0], ElementsAre(1, 1.25F, 2.25F, 3.25F));
  EXPECT_EQ(rates[1], rates[0]);
}

TEST(HyperParamRanks, follow_a_file_that_the_chief_reads) {
  const TemporaryFolder folder;
  write_content(folder / "hyper.txt", "learning_rate: 0.5");
  const auto rates = rates_on_two_ranks("HumanHyperParamSetter: {param: learning_rate}", folder.str());
  EXPECT_THAT(rates[0], ElementsAre(0.5F, 0.5F, 0.5F, 0.5F));
  EXPECT_EQ(rates[1], rates[0]);
}

TEST(HyperParamRanks, follow_a_condition_on_a_statistic_of_the_chief) {
  const auto rates = rates_on_two_ranks(
      "EnableIf: {condition: cost == 1 and epoch > 1, callback: {HyperParamSetterWithFunc: {param: "
      "learning_rate, value: old / 2}}}");
  EXPECT_THAT(rates[0], ElementsAre(0.5F, 0.5F, 0.25F, 0.125F)) << "it begins before training";
  EXPECT_EQ(rates[1], rates[0]);
}

}  // namespace
}  // namespace tpack
