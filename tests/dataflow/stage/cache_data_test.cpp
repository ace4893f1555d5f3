#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <iterator>

#include "core/digest.h"
#include "dataflow/flow_helpers.h"
#include "support/captured_log.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> caches_in(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".cache") files.push_back(entry.path().string());
  return files;
}

TEST(CacheData, later_passes_have_the_samples_of_the_first) {
  for (const std::string source : {"Counting", "CountingInOrder"}) {
    for (const std::string dir : {"", "dir: cache"}) {
      const TempFolder folder;
      const CapturedLog log;
      const DataFlow flow = folder.flow("[" + source + ": 5, Picky, CacheData: {" + dir + "}]");
      const Rows first = samples_of(flow, {.pass = 0});
      EXPECT_EQ(samples_of(flow, {.pass = 1}), first) << source;
      EXPECT_EQ(samples_of(flow, {.seed = 3, .pass = 7}), first) << "with another seed";
      EXPECT_EQ(flow.size(), 5);
      if (source == "Counting") {
        EXPECT_TRUE(says(log.text(), {"picky_0 draws random numbers", "put it after CacheData"}));
      }
    }
  }
}

TEST(CacheData, maps_after_it_draw_in_each_pass) {
  const DataFlow flow = yaml_flow("[Counting: 5, CacheData, Picky]");
  EXPECT_NE(samples_of(flow, {.pass = 0}), samples_of(flow, {.pass = 1}));
}

TEST(CacheData, shuffles_if_asked) {
  const DataFlow flow = yaml_flow("[CountingInOrder: 30, CacheData: {shuffle: true}]");
  flow.prepare();
  Integers first = first_component(flow, {.pass = 0});
  const Integers second = first_component(flow, {.pass = 1});
  EXPECT_NE(first, second);
  EXPECT_THAT(second, testing::UnorderedElementsAreArray(first));
  std::sort(first.begin(), first.end());
  for (size_t i = 0; i < 30; ++i) EXPECT_EQ(first[i], static_cast<int64_t>(i)) << "each sample once";
}

TEST(CacheData, keeps_the_order_of_a_join) {
  const std::string part = "[Counting: {size: 30, shuffle: true}, CacheData: {shuffle: true}]";
  const DataFlow flow = yaml_flow("[JoinData: {flows: [" + part + ", " + part + "]}]");
  flow.prepare();
  for (const int64_t pass : {0, 1}) {
    int rows = 0;
    const auto cursor = flow.open({.pass = pass});
    for (Datapoint d; cursor->next(d); ++rows)
      EXPECT_EQ(d.tensor(0).at(0), d.tensor(2).at(0)) << "pass " << pass;
    EXPECT_EQ(rows, 30);
  }
}

TEST(CacheData, maps_after_it_draw_in_each_repetition) {
  const Rows rows = samples_of(yaml_flow("[Counting: 3, CacheData, RepeatedData: 2, Picky]"));
  ASSERT_EQ(rows.size(), 6U);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(rows[i][0], rows[i + 3][0]);
    EXPECT_NE(rows[i][1], rows[i + 3][1]) << "of sample " << i;
  }
}

TEST(CacheData, warns_if_a_source_shuffles_in_vain) {
  const CapturedLog log;
  yaml_flow("[Counting: {size: 5, shuffle: true}, CacheData]").prepare();
  EXPECT_TRUE(says(log.text(), {"each pass has the order of the first one", "{shuffle: true}"}));
  const CapturedLog quiet;
  yaml_flow("[Counting: {size: 5, shuffle: true}, CacheData: {shuffle: true}]").prepare();
  EXPECT_EQ(quiet.text(), "");
}

TEST(CacheData, reads_its_file_in_the_next_run) {
  const TempFolder folder;
  folder.write_text("a.csv", "x\n1\n2\n3\n");
  const std::string yaml = "[CSV: {file: a.csv, columns: {x: x}, shuffle: false}, CacheData: {dir: cache}]";
  const Rows first = samples_of(folder.flow(yaml));
  ASSERT_EQ(caches_in(folder.path("cache")).size(), 1U);
  const auto written = fs::last_write_time(caches_in(folder.path("cache"))[0]);
  EXPECT_EQ(samples_of(folder.flow(yaml)), first);
  EXPECT_EQ(fs::last_write_time(caches_in(folder.path("cache"))[0]), written) << "it is not written again";
}

TEST(CacheData, writes_its_file_again_if_the_data_have_changed) {
  const TempFolder folder;
  const std::string yaml = "[CSV: {file: a.csv, columns: {x: x}, shuffle: false}, CacheData: {dir: cache}]";
  folder.write_text("a.csv", "x\n1\n2\n3\n");
  EXPECT_EQ(samples_of(folder.flow(yaml)), (Rows{{1}, {2}, {3}}));
  folder.write_text("a.csv", "x\n4\n5\n6\n7\n");
  const CapturedLog log;
  EXPECT_EQ(samples_of(folder.flow(yaml)), (Rows{{4}, {5}, {6}, {7}}));
  EXPECT_TRUE(says(log.text(), {"again, because", "have changed"}));
  EXPECT_EQ(caches_in(folder.path("cache")).size(), 1U) << "the old file is replaced";
}

TEST(CacheData, another_config_has_another_file) {
  const TempFolder folder;
  const auto cached = [&](const std::string& map) {
    return samples_of(folder.flow("[CountingInOrder: 3" + map + ", CacheData: {dir: cache}]"));
  };
  EXPECT_EQ(cached("").size(), 3U);
  EXPECT_EQ(cached(", Filter: k != 1").size(), 2U);
  EXPECT_EQ(cached("").size(), 3U);
  EXPECT_EQ(caches_in(folder.path("cache")).size(), 2U);
}

TEST(CacheData, a_named_flow_that_changes_has_another_file) {
  const TempFolder folder;
  const auto cached = [&](int64_t size) {
    const FlowScope scope = {{"a", ConfigNode::list({item("CountingInOrder", ConfigNode(size))})}};
    Diagnostics errors;
    const ConfigNode node = list({item("ConcatData", list({"a"})),
                                  item("CacheData", ConfigNode::map({{"dir", folder.path("cache")}}))});
    const auto flow = make_flow(node, scope, errors);
    errors.throw_if_any();
    return samples_of(*flow).size();
  };
  EXPECT_EQ(cached(3), 3U);
  EXPECT_EQ(cached(4), 4U);
}

TEST(CacheData, a_damaged_file_is_written_again) {
  const TempFolder folder;
  const std::string yaml = "[CountingInOrder: 3, CacheData: {dir: cache}]";
  const Rows first = samples_of(folder.flow(yaml));
  const std::string file = caches_in(folder.path("cache")).at(0);
  const auto size = fs::file_size(file);
  fs::resize_file(file, size - 3);
  const CapturedLog log;
  EXPECT_EQ(samples_of(folder.flow(yaml)), first);
  EXPECT_TRUE(says(log.text(), {"again, because it is damaged"}));
  EXPECT_EQ(fs::file_size(file), size);
}

/// A file with one byte of its samples or their positions changed, or with a first sample without bytes.
Texts damaged_caches(const std::string& whole) {
  constexpr size_t kMagic = std::string_view("tpack cache 1\n").size();
  constexpr int64_t kHeader = kMagic + Digest::kDigits;
  const size_t end = whole.size() - kMagic - 2 * sizeof(int64_t);  // a change after it damages the whole file
  Texts all;
  for (size_t at = kHeader; at < end; ++at)
    for (const char value : {char(0), char(0x7f)}) all.emplace_back(whole)[at] = value;
  int64_t positions = 0;
  std::memcpy(&positions, whole.data() + end + sizeof positions, sizeof positions);
  std::memcpy(all.emplace_back(whole).data() + positions, &kHeader, sizeof kHeader);
  return all;
}

TEST(CacheData, damage_is_an_error_with_stage_and_file_or_another_number) {
  const TempFolder folder;
  folder.write_text("a.csv", "x\n1\n2\n3\n");
  for (const std::string source : {"CSV: {file: a.csv, columns: {x: [x]}, shuffle: false}",
                                   "Streamed: {source: {CSV: {file: a.csv, columns: {x: [x]}}}}"}) {
    const std::string dir = source.substr(0, 3);
    // The last map names the file of a sample that it cannot cast.
    const std::string yaml =
        "[" + source + ", CacheData: {dir: " + dir + "}, MapData: {component: x, map: {Cast: int32}}]";
    samples_of(folder.flow(yaml));
    const std::string path = caches_in(folder.path(dir)).at(0);
    std::ifstream file(path, std::ios::binary);
    int damaged = 0;
    for (const std::string& bytes : damaged_caches({std::istreambuf_iterator<char>(file), {}})) {
      std::ofstream(path, std::ios::binary) << bytes;
      const std::string error = error_of([&] { samples_of(folder.flow(yaml)); });
      if (error == "no error") continue;
      const bool is_of_the_cache = error.find("damaged; delete") != std::string::npos;
      damaged += is_of_the_cache ? 1 : 0;
      EXPECT_TRUE(says(error, is_of_the_cache ? Texts{"cache_data_0, sample ", " of pass 0", path}
                                              : Texts{"map_data_0, sample ", " of pass 0"}));
    }
    EXPECT_GT(damaged, 2 * 8) << "sizes and positions";
  }
}

TEST(CacheData, is_the_same_for_any_number_of_workers_and_from_any_place) {
  for (const std::string cache : {"CacheData", "CacheData: {shuffle: true}", "CacheData: {dir: cache}"}) {
    const TempFolder folder;
    const CapturedLog log;
    const std::string yaml = "[Counting: {size: 23, shuffle: true}, Picky, " + cache + ", BatchData: 4]";
    const auto whole =
        numbers_of(*folder.flow(yaml).stream({.seed = 2, .workers = 1, .slots = 1, .passes = 3}));
    for (const size_t workers : {2U, 7U})
      EXPECT_EQ(
          numbers_of(*folder.flow(yaml).stream({.seed = 2, .workers = workers, .slots = 3, .passes = 3})),
          whole);
    const auto rest = numbers_of(
        *folder.flow(yaml).stream({.seed = 2, .workers = 2, .slots = 3, .position = {1, 2}, .passes = 2}));
    EXPECT_EQ(rest, Numbers(whole.end() - std::ssize(rest), whole.end()))
        << "a run that begins in the middle";
    EXPECT_FALSE(rest.empty());
  }
}

TEST(CacheData, bad_samples_stay_bad) {
  for (const std::string dir : {"", "dir: cache"}) {
    const TempFolder folder;
    const CapturedLog log;
    const DataFlow flow = folder.flow("{flow: [Counting: 5, Picky: {fail: 2}, CacheData: {" + dir +
                                      "}, SelectComponent: [k]], on_error: skip}");
    EXPECT_EQ(first_component(flow), (Integers{0, 1, 3, 4}));
    EXPECT_EQ(first_component(flow, {.pass = 1}), (Integers{0, 1, 3, 4}));
  }
}

/// A flow without places is stored when it is prepared, without its bad samples.
TEST(CacheData, bad_samples_of_a_sequential_flow_are_not_stored) {
  for (const std::string source : {"CountingInOrder: 5", "Counting: 5, Filter: k < 5"}) {
    for (const std::string dir : {"", "dir: cache"}) {
      for (const std::string policy : {"skip", "replace"}) {
        const TempFolder folder;
        const CapturedLog log;
        const std::string items = "[" + source + ", Picky: {fail: 2}, CacheData: {" + dir +
                                  "}, Picky: {fail: 4}, SelectComponent: [k]]";
        const DataFlow flow = folder.flow("{flow: " + items + ", on_error: " + policy + "}");
        const Integers expected =
            policy == "skip" ? Integers{0, 1, 3} : Integers{0, 1, 3, 0};  // the sample after the last one
        EXPECT_EQ(first_component(flow), expected) << source << policy;
        EXPECT_EQ(first_component(flow, {.pass = 1}), expected);
        EXPECT_TRUE(fails([&] { folder.flow(items).prepare(); }, {"sample 2"}))
            << "a run that stops at bad samples does not use the file of one that leaves them out";
      }
    }
  }
}

TEST(CacheData, memory_has_a_limit) {
  const CapturedLog log;
  const std::string images = "FakeData: {shapes: [[500, 1000]], dtype: [uint8], size: 9}";  // 0.5 MB each
  for (const std::string& source : {images, images + ", Filter: all(component_0 >= 0)"}) {
    const DataFlow small = yaml_flow("[" + source + ", CacheData: {memory_mb: 3}]");
    const auto error = error_of([&] { samples_of(small); });
    EXPECT_TRUE(
        says(error, {"CacheData: 6 samples need more than", "the limit of memory_mb", "set dir: FOLDER"}));
    EXPECT_EQ(samples_of(yaml_flow("[" + source + ", CacheData: {memory_mb: 6}]")).size(), 9U);
  }
  const DataFlow skipping = yaml_flow("{flow: [" + images + ", CacheData: {memory_mb: 3}], on_error: skip}");
  EXPECT_TRUE(fails([&] { samples_of(skipping); }, {"memory_mb"})) << "no sample is bad";
}

TEST(CacheData, mistakes_have_fixes) {
  expect_errors([](const std::string& flow) { yaml_flow(flow).prepare(); },
                {{"[Counting: 4, BatchData: 2, CacheData]", {"has batches", "before them"}},
                 {"[Counting: 4, RepeatedData, CacheData]", {"never ends", "after the CacheData"}},
                 {"[Counting: 4, CacheData: {dir: cache, memory_mb: 9}]", {"memory_mb", "leave out one"}}});
  const TempFolder folder;
  folder.write_text("cache", "a file");
  EXPECT_TRUE(fails([&] { samples_of(folder.flow("[Counting: 4, CacheData: {dir: cache}]")); },
                    {"'" + folder.path("cache") + "' cannot be made"}));
}

const live::Fields kCacheData("stage", "CacheData",
                              {.base = "{shuffle: true}",
                               .values = {{"dir", "a_folder"}},
                               .left_out = {{"memory_mb", "a limit; memory_has_a_limit tests it"}},
                               .build = [](const std::string& item) {
                                 const TempFolder folder;
                                 const std::string content = content_of_flow(
                                     "[CountingInOrder: 9, " + item + "]", folder.path("a.yaml"));
                                 return content + (fs::exists(folder.path("a_folder")) ? " in a file" : "");
                               }});

}  // namespace
}  // namespace tpack
