// Runs the program: training by reinforcement, stopped and resumed.
#include <set>

#include <gmock/gmock-matchers.h>

#include "support/tiny_runs.h"

namespace tpack {
namespace {

using testing_cli::expect_same_tensors;
using testing_cli::Outcome;
using testing_cli::tpack;

class TrainReinforcement : public testing::TestWithParam<const char*> {
 protected:
  Outcome train(const std::string& run, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"train", source_folder() + "/configs/" + GetParam() + ".yaml",
                                      "--log-dir", folder_ / run};
    for (const char* setting : {"max_epoch=3", "steps_per_epoch=70", "gates=!delete"})
      words.insert(words.end(), {"--set", setting});
    words.insert(words.end(), more.begin(), more.end());
    return tpack(words);
  }
  std::string checkpoint(const std::string& run) const {
    return folder_ / (run + "/checkpoints/model-210.h5");
  }
  std::string statistics(const std::string& run) const { return content_of(folder_ / (run + "/stats.csv")); }

  TemporaryFolder folder_;
};

/// The lines of stats.csv without the columns that depend on the clock.
std::vector<std::string> without_times(const std::string& csv) {
  std::set<size_t> timed;
  std::vector<std::string> lines;
  for (const std::string& line : split(csv, '\n')) {
    const std::vector<std::string> cells = split(line, ',');
    std::string kept;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (lines.empty() && (cells[i].ends_with("_per_s") || cells[i].find("time") != std::string::npos))
        timed.insert(i);
      if (!timed.contains(i)) kept += cells[i] + ",";
    }
    lines.push_back(kept);
  }
  return lines;
}

TEST_P(TrainReinforcement, ends_with_the_same_bits_if_it_was_stopped) {
  exits(0, train("whole"));
  exits(0, train("run", {"--until-epoch", "2"}));
  exits(0, train("run", {"--resume", "auto"}));
  expect_same_tensors(checkpoint("run"), checkpoint("whole"));
  EXPECT_EQ(without_times(statistics("run")), without_times(statistics("whole")));
  EXPECT_THAT(statistics("run"), testing::HasSubstr("mean_reward"));
}

INSTANTIATE_TEST_SUITE_P(Of, TrainReinforcement, testing::Values("catch-dqn", "cartpole-dqn", "cartpole-ppo"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace tpack
