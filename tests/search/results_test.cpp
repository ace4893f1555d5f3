#include "search/results.h"

#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/temporary_folder.h"

namespace tpack {
namespace {

TEST(SearchResults, rank_longer_trained_runs_first_and_unfinished_ones_last) {
  const TemporaryFolder folder;
  SearchRecord record;
  record.plan.metric = {"accuracy", Goal::kMax};
  record.keys = {"optimizer.Adam.learning_rate", "model.layers.0"};
  record.runs = {
      {"000", {"0.1", "{ReLU: {}}"}, RunState::kStopped, {0.9}, 1.5, 0, ""},
      {"001", {"0.2", "Tanh"}, RunState::kFailed, {}, 0.5, 6, "the cost is nan, sorry"},
      {"002", {"0.3", "Tanh"}, RunState::kFinished, {0.6, 0.7}, 61, 0, ""},
      {"003", {"0.4", "Tanh"}, RunState::kFinished, {0.5, 0.8}, 62, 0, ""},
      {"004", {"0.5", "Tanh"}, RunState::kFinished, {std::numeric_limits<double>::quiet_NaN()}, 3, 0, ""}};
  for (const char* run : {"002", "003"}) {
    std::filesystem::create_directories(folder / run);
    const std::string best = run == std::string("002") ? "0.7" : "0.8";
    write_content(folder / run + "/stats.json",
                  "[{\"accuracy\": " + best +
                      ", \"epoch_num\": 1, \"global_step\": 1},"
                      "{\"accuracy\": 0.5, \"epoch_num\": 2, \"global_step\": 2}]");
  }
  const SearchResults results(record, folder.str());
  EXPECT_EQ(results.table(),
            "rank  run  learning_rate  0           best accuracy  last  epochs        time  state\n"
            "----  ---  -------------  ----------  -------------  ----  ------  ----------  --------\n"
            "1     003            0.4  Tanh                  0.8   0.5       2  1 min 02 s  finished\n"
            "2     002            0.3  Tanh                  0.7   0.5       2  1 min 01 s  finished\n"
            "3     000            0.1  {ReLU: {}}                            0       1.5 s  stopped\n"
            "      004            0.5  Tanh                                  0       3.0 s  finished\n"
            "      001            0.2  Tanh                                  0    500.0 ms  failed\n");
  EXPECT_EQ(
      results.csv(),
      "rank,run,optimizer.Adam.learning_rate,model.layers.0,best_accuracy,last_accuracy,epochs,seconds,state,"
      "reason\n"
      "1,003,0.4,Tanh,0.8,0.5,2,62,finished,\n"
      "2,002,0.3,Tanh,0.7,0.5,2,61,finished,\n"
      "3,000,0.1,{ReLU: {}},,,0,1.5,stopped,\n"
      ",004,0.5,Tanh,,,0,3,finished,\n"
      ",001,0.2,Tanh,,,0,0.5,failed,\"the cost is nan, sorry\"\n");
  const auto json = nlohmann::json::parse(results.json());
  EXPECT_EQ(json["metric"], "accuracy");
  EXPECT_EQ(json["goal"], "max");
  EXPECT_EQ(
      json["runs"][0],
      nlohmann::json::parse(R"({"rank": 1, "run": "003", "values": {"optimizer.Adam.learning_rate": "0.4",
                "model.layers.0": "Tanh"}, "best": 0.8, "last": 0.5, "epochs": 2, "seconds": 62, "state": "finished",
                "reason": "", "folder": ")" +
                            folder.str() + "/003\"}"));
  EXPECT_EQ(json["runs"][4]["rank"], nullptr);
  EXPECT_EQ(json["runs"][4]["best"], nullptr);
  EXPECT_EQ(json["runs"][4]["reason"], "the cost is nan, sorry");
}

}  // namespace
}  // namespace tpack
