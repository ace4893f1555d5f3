#include <cmath>

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/registry.h"
#include "monitor/monitor.h"
#include "support/live_fields.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

using nlohmann::json;

std::unique_ptr<Monitor> writer(const RunRecord& run, const ConfigNode& params = {}) {
  auto made = Registry<Monitor>::make("JSONWriter", params);
  made->open(run);
  return made;
}

TEST(JsonWriter, writes_the_schema_of_tensorpack) {
  const TemporaryFolder folder;
  const auto monitor = writer({.folder = folder.str()});
  monitor->put_scalar("cost", 0.1, {1, 469});
  monitor->put_scalar("validation_accuracy", 1.0 / 3, {1, 469});
  monitor->end_epoch({1, 469});
  const json expected = json::parse(
      R"([{"cost": 0.1, "validation_accuracy": 0.3333333333333333, "epoch_num": 1, "global_step": 469}])");
  EXPECT_EQ(json::parse(content_of(folder / "stats.json")), expected);
  EXPECT_THAT(folder.names(), testing::ElementsAre("stats.json"));
}

TEST(JsonWriter, writes_null_where_json_has_no_number) {
  const TemporaryFolder folder;
  const auto monitor = writer({.folder = folder.str()});
  monitor->put_scalar("cost", NAN, {1, 1});
  monitor->end_epoch({1, 1});
  EXPECT_TRUE(json::parse(content_of(folder / "stats.json"))[0]["cost"].is_null());
}

TEST(JsonWriter, writes_within_an_epoch_only_once_its_period_is_over) {
  const TemporaryFolder folder;
  const auto waits = writer({.folder = folder.str()}, {{"period_s", 1e9}});
  waits->put_scalar("cost", 1, {1, 1});
  waits->end_step({1, 1});
  EXPECT_TRUE(folder.names().empty());
  const auto hurries = writer({.folder = folder.str()}, {{"period_s", 0}});
  hurries->put_scalar("cost", 1, {1, 1});
  hurries->end_step({1, 1});
  EXPECT_FALSE(folder.names().empty());
}

TEST(JsonWriter, continues_with_the_history_of_the_resumed_checkpoint) {
  const TemporaryFolder folder;
  write_content(folder / "stats.json", R"([{"cost": 5, "epoch_num": 1, "global_step": 1}])");
  const auto monitor = writer({.folder = folder.str(),
                               .starting_epoch = 1,
                               .global_step = 2,
                               .resumed = true,
                               .history = {{{1, 1}, {{"cost", 0.1}}}, {{1, 2}, {{"cost", 0.2}}}}});
  monitor->put_scalar("cost", 7, {1, 3});
  monitor->close();
  const json expected = json::parse(
      R"([{"cost": 0.1, "epoch_num": 1, "global_step": 1}, {"cost": 0.2, "epoch_num": 1, "global_step": 2},
          {"cost": 7.0, "epoch_num": 1, "global_step": 3}])");
  EXPECT_EQ(json::parse(content_of(folder / "stats.json")), expected);
}

TEST(JsonWriter, moves_the_file_of_another_run_away) {
  const TemporaryFolder folder;
  write_content(folder / "stats.json", R"([{"cost": 1, "epoch_num": 5, "global_step": 50}])");
  const auto monitor = writer({.folder = folder.str()});
  monitor->put_scalar("cost", 2, {1, 1});
  monitor->end_epoch({1, 1});
  EXPECT_EQ(json::parse(content_of(folder / "stats.json")).size(), 1U);
  EXPECT_EQ(folder.names().size(), 2U);
}

TEST(JsonWriter, moves_a_damaged_file_away) {
  for (const char* text : {R"([{"cost": 1, )", "5", "[5]", R"({"cost": 1})", R"([{"cost": "low"}])", ""}) {
    const TemporaryFolder folder;
    write_content(folder / "stats.json", text);
    const auto monitor =
        writer({.folder = folder.str(), .starting_epoch = 2, .global_step = 5, .resumed = true});
    monitor->close();
    EXPECT_EQ(folder.names().size(), 2U) << text;
  }
}

TEST(JsonWriter, does_nothing_without_a_folder) {
  const auto monitor = writer({});
  monitor->put_scalar("cost", 2, {1, 1});
  EXPECT_NO_THROW(monitor->end_epoch({1, 1}));
}

const live::Fields kJsonWriter("monitor", "JSONWriter", {.values = {{"period_s", "0"}}});

}  // namespace
}  // namespace tpack
