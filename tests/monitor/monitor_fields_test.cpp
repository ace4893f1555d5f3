// Every field of every monitor has an effect.
#include <gmock/gmock-more-matchers.h>

#include "core/registry.h"
#include "monitor/monitor.h"
#include "support/captured_log.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

/// The total size of the files in a folder: clock values always have the same length.
std::string sizes_in(const std::string& folder) {
  uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) bytes += entry.file_size();
  return std::to_string(bytes) + " bytes\n";
}

/// What a monitor prints and writes, and when, if it gets two scalars in each of four steps.
std::string what_it_shows(const std::string& item) {
  const CapturedLog log;
  const TemporaryFolder folder;
  const auto monitor = Registry<Monitor>::make_item(parse_yaml(item, "monitor.yaml"));
  monitor->open({.folder = folder.str()});
  std::string seen;
  for (int64_t step = 1; step <= 4; ++step) {
    const StepStamp now{(step + 1) / 2, step};
    monitor->put_scalar("cost", 0.5, now);
    monitor->put_scalar("accuracy", 0.25, now);
    monitor->end_step(now);
    seen += log.text() + sizes_in(folder.str());
    if (step % 2 == 0) monitor->end_epoch(now);
    seen += log.text() + sizes_in(folder.str());
  }
  monitor->close();
  return seen + log.text() + sizes_in(folder.str());
}

TEST(Monitors, have_no_field_without_effect) {
  EXPECT_THAT(live::dead_fields(Registry<Monitor>::table(), {what_it_shows}), testing::IsEmpty());
}

/// A kind with one component that reads one of its fields.
struct Toy {
  static constexpr const char* kKind = "toy";
  struct Params {
    int64_t size = 1;
    bool unread = false;
  };
  static Schema<Params> schema() {
    return Schema<Params>("A toy.")
        .example("Toy: {size: 7}")
        .field("size", &Params::size, "is read")
        .field("unread", &Params::unread, "is not read");
  }
  explicit Toy(Params p) : size(p.size) {}
  int64_t size;
};

TPACK_REGISTER(Toy, Toy, "Toy");

std::string size_of_toy(const std::string& item) {
  return std::to_string(Registry<Toy>::make_item(parse_yaml(item, "toy.yaml"))->size);
}

/// The dead fields of the toy with this entry, or with none.
std::vector<std::string> dead_of_toy(const live::Components& entries,
                                     const live::Build& build = size_of_toy) {
  live::entries_of("toy") = entries;
  return live::dead_fields(Registry<Toy>::table(), {build});
}

TEST(DeadFields, are_those_that_nothing_reads) {
  EXPECT_THAT(dead_of_toy({}),
              testing::ElementsAre(testing::StartsWith(
                  "Toy.unread changes nothing (tried true, false, false on {\"size\": 7}); ")));
  EXPECT_THAT(dead_of_toy({{"Toy", {.left_out = {{"unread", "a test of tests"}}}}}), testing::IsEmpty());
}

TEST(DeadFields, are_not_looked_for_on_a_base_that_cannot_be_built) {
  EXPECT_THAT(dead_of_toy({{"Toy", {.base = "{size: many}"}}}),
              testing::ElementsAre(testing::StartsWith("Toy cannot be built from {\"size\": \"many\"}: ")));
}

TEST(DeadFields, are_not_hidden_by_what_changes_by_itself) {
  int builds = 0;
  const auto count = [&](const std::string& item) { return size_of_toy(item) + std::to_string(++builds); };
  EXPECT_THAT(dead_of_toy({}, count), testing::ElementsAre("Toy is not the same when it is built again"));
}

TEST(DeadFields, may_need_another_build) {
  const auto blind = [](const std::string& /*item*/) { return "the same"; };
  EXPECT_THAT(dead_of_toy({}, blind), testing::SizeIs(2));
  EXPECT_THAT(dead_of_toy({{"Toy", {.build = size_of_toy}}}, blind), testing::SizeIs(1));
}

TEST(DeadFields, are_not_hidden_by_entries_for_what_is_not_there) {
  EXPECT_THAT(dead_of_toy({{"Toy", {.values = {{"sise", "2"}}, .left_out = {{"unread", "a test of tests"}}}},
                           {"Tyo", {}}}),
              testing::ElementsAre("Toy has no field sise", "Tyo is not registered"));
}

}  // namespace
}  // namespace tpack
