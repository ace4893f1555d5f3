#include "run/precision_times.h"

#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>

#include "support/tiny_runs.h"

namespace tpack::testing_cli {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Runs after `tpack bench --compare fp32,bf16` of the tiny config, in an own cache folder.
class MeasuredPrecisions : public WithTinyRuns {
 protected:
  MeasuredPrecisions() {
    setenv("TPACK_CACHE_DIR", cache().c_str(), 1);
    exits(0, tpack({"bench", config(), "--compare", "fp32,bf16", "--steps", "1", "--warm-up", "0"}));
    const std::filesystem::directory_iterator files(cache() + "/precisions");
    EXPECT_EQ(std::distance(begin(files), end(files)), 1);
    for (const auto& file : std::filesystem::directory_iterator(cache() + "/precisions")) file_ = file.path();
  }
  ~MeasuredPrecisions() override { unsetenv("TPACK_CACHE_DIR"); }
  std::string cache() const { return folder_ / "cache"; }

  void write_times(const std::string& step_s) const {
    write_content(file_, R"({"date": "2026-11-28", "step_s": )" + step_s + "}");
  }
  /// The log of a new run.
  std::string log_with(const std::vector<std::string>& more = {}) {
    return exits(0, train(joined({"--set", "max_epoch=1"}, more), "run" + std::to_string(++runs_))).err;
  }

  std::string file_;

 private:
  int runs_ = 0;
};

constexpr const char* kSays = "times as fast as";

TEST_F(MeasuredPrecisions, are_repeated_when_the_same_step_is_trained) {
  EXPECT_THAT(content_of(file_), HasSubstr("\"bf16\"")) << "as it was measured";
  write_times(R"({"fp32": 0.016, "bf16": 0.010})");
  const std::string line =
      "bf16 was 1.60 times as fast as fp32 in `tpack bench --compare` (2026-11-28): --precision bf16\n";
  EXPECT_THAT(log_with(), HasSubstr(line));
  EXPECT_THAT(
      log_with({"--set", "optimizer.Adam.learning_rate=0.1", "--set", "max_epoch=2", "--set", "seed=3"}),
      HasSubstr(line));
  for (const char* change :
       {"data.train.BatchData.batch_size=5", "engine.threads=2", "model.layers.fc0.units=6", "optimizer=SGD",
        "engine.backend=reference", "trainer={Simple: {accumulate: 2}}"})
    EXPECT_THAT(log_with({"--set", change}), Not(HasSubstr(kSays))) << change;
}

TEST_F(MeasuredPrecisions, are_not_worth_a_line_if_nothing_is_gained) {
  write_times(R"({"fp32": 0.016, "bf16": 0.010})");
  EXPECT_THAT(log_with({"--precision", "bf16"}), Not(HasSubstr(kSays)));
  EXPECT_THAT(log_with({"--precision", "fp16"}), Not(HasSubstr(kSays))) << "not measured";
  write_times(R"({"fp32": 0.0109, "bf16": 0.010})");
  EXPECT_THAT(log_with(), Not(HasSubstr(kSays))) << "less than 10 %";
  write_times(R"({"fp32": 0.010, "bf16": 0.020})");
  EXPECT_THAT(log_with({"--precision", "bf16"}), HasSubstr("fp32 was 2.00 times as fast as bf16"));
}

TEST_F(MeasuredPrecisions, are_ignored_in_a_damaged_file) {
  for (const char* step_s : {"", "{}", "[1, 2]", R"({"fp32": "a", "bf16": 1})", R"({"fp32": 1, "bf16": 0})",
                             R"({"fp32": 1, "bf16": -1})"}) {
    write_times(step_s);
    EXPECT_THAT(log_with(), Not(HasSubstr(kSays))) << step_s;
  }
  write_content(file_, R"({"date": 3, "step_s": {"fp32": 2, "bf16": 1}})");
  EXPECT_THAT(log_with(), Not(HasSubstr(kSays)));
}

}  // namespace
}  // namespace tpack::testing_cli
