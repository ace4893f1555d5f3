// A flow that is closed leaves no memory, no open file and no thread: not after a thousand times, not if its
// reader stops early, not if a sample fails. The error of a sample that fails names its component and number.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <limits>
#include <set>

#include "core/registry.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/test_databases.h"
#include "records/test_records.h"
#include "support/allocation_counter.h"
#include "support/captured_log.h"
#include "support/live_fields.h"
#include "support/own_process.h"

namespace tpack {
namespace {

struct OddParams {
  int64_t size = 12;
  bool ragged = false;
  std::string fails = {};
};

/// A source whose sample 3 may be wrong. Pairs of samples have the same sizes.
class Odd final : public RandomAccessSource {
 public:
  using Params = OddParams;
  static constexpr int64_t kOddSample = 3;
  static Schema<Params> schema() {
    return Schema<Params>("Has an odd sample.")
        .field("size", &Params::size, "samples of a pass")
        .field("ragged", &Params::ragged, "their sizes differ")
        .field("fails", &Params::fails, "of the odd sample: 'read', 'shape', 'nan'");
  }
  explicit Odd(Params p) : p_(std::move(p)) {}
  Spec spec() const override {
    const Shape shape{p_.ragged ? Shape::kUnknown : 2};
    return {{"x", {DType::kFloat32, shape}},
            {"label", {DType::kInt32, {}}, false, {"a", "b"}},
            {"y", {DType::kFloat32, shape}}};
  }
  int64_t size() const override { return p_.size; }
  bool shuffled() const override { return false; }
  void get(int64_t index, const SampleKey& key, Datapoint& out) const override {
    const bool is_odd = index == kOddSample;
    const bool is_looked_at = key.stage == 0;  // by stages that read the classes in advance
    if (is_odd && !is_looked_at && p_.fails == "read") throw DataError("it is unreadable");
    const int64_t size = p_.ragged ? 1 + index / 2 % 2 : 2;
    fill(out.renew(0, {DType::kFloat32, {size}}), static_cast<float>(index));
    *out.renew(1, {DType::kInt32, {}}).data<int32_t>() = static_cast<int32_t>(index % 2);
    const Shape shape = is_odd && p_.fails == "shape" ? Shape{1, size} : Shape{size};
    fill(out.renew(2, {DType::kFloat32, shape}),
         is_odd && p_.fails == "nan" ? std::numeric_limits<float>::quiet_NaN() : 1.0F);
  }

 private:
  static void fill(const Tensor& tensor, float value) {
    std::fill_n(tensor.data<float>(), tensor.elements(), value);
  }
  Params p_;
};

/// The same, but sequential.
class OddInOrder final : public SequentialSource {
 public:
  using Params = OddParams;
  static Schema<Params> schema() { return Odd::schema(); }
  explicit OddInOrder(const Params& p) : odd_(p) {}
  Spec spec() const override { return odd_.spec(); }
  std::unique_ptr<Cursor> open(const PassKey& /*pass*/, uint64_t stage) const override {
    return std::make_unique<Reader>(odd_, stage);
  }

 private:
  class Reader final : public Cursor {
   public:
    Reader(const Odd& odd, uint64_t stage) : odd_(odd), stage_(stage) {}
    bool next(Datapoint& out) override {
      if (at_ == odd_.size()) return false;
      odd_.get(at_++, {.stage = stage_}, out);
      return true;
    }

   private:
    const Odd& odd_;
    uint64_t stage_;
    int64_t at_ = 0;
  };
  Odd odd_;
};

TPACK_REGISTER(Source, Odd, "Odd");
TPACK_REGISTER(Source, OddInOrder, "OddInOrder");
const live::Fields kOdd("source", "Odd", {.left_out = {{"fails", "a source of these tests"}}});
const live::Fields kOddInOrder("source", "OddInOrder", {.left_out = {{"fails", "the same"}}});

/// A stage or map after the source Odd, and what of the odd sample fails there.
struct Part {
  std::string name;
  std::string yaml;
  std::string fails;
  std::string place;  // the component that the error names
  bool ragged = false;
  std::set<std::string> sources = {"Odd", "OddInOrder"};

  std::string flow(const std::string& source, bool fail) const {
    return "[" + source + ": {ragged: " + (ragged ? "true" : "false") + ", fails: '" + (fail ? fails : "") +
           "'}, " + yaml + "]";
  }
};

const std::vector<Part>& parts() {
  static const std::string kSource = "odd_";
  static const std::vector<Part> kAll = {
      {"BatchData", "BatchData: 2", "shape", "batch_data_0"},
      {"BatchData", "BatchData: {batch_size: 5, remainder: true}", "read", kSource},
      {"BatchDataByShape", "BatchDataByShape: {batch_size: 2, component: x}", "shape",
       "batch_data_by_shape_0", true},
      {"PadBatch", "PadBatch: 3", "shape", "pad_batch_0", true},
      {"CacheData", "CacheData: {shuffle: true}", "shape", "cache_data_0"},
      {"CacheData", "CacheData: {dir: cache}", "shape", "cache_data_0"},
      {"ClassBalanced", "ClassBalanced: label", "read", kSource, false, {"Odd"}},
      {"FixedSizeData", "FixedSizeData: {size: 20, keep_state: false}", "read", kSource},
      {"Limit", "Limit: 10", "read", kSource, false, {"Odd"}},
      {"LocallyShuffleData", "LocallyShuffleData: {buffer_size: 4, num_reuse: 2}", "read", kSource},
      {"MultiThreadMapData", "MultiThreadMapData: {component: y, map: {Cast: int32}, num_thread: 3}", "nan",
       "multi_thread_map_data_0"},
      {"PairData", "PairData: label", "read", kSource, false, {"Odd"}},
      {"PrefetchData", "PrefetchData: {num_prefetch: 2, num_proc: 3}", "read", kSource},
      {"RepeatedData", "RepeatedData: 2", "read", kSource},
      {"RepeatedDataPoint", "RepeatedDataPoint: 2", "read", kSource},
      {"TestDataSpeed", "TestDataSpeed: {size: 5}", "read", kSource},
      {"WeightedSampling",
       "WeightedSampling: {component: label, weights: {a: 1, b: 2}}",
       "read",
       kSource,
       false,
       {"Odd"}},
      {"MapData", "MapData: {component: y, map: {Cast: int32}}", "nan", "map_data_0"},
      {"Filter", "Filter: label == 1", "read", kSource},
      {"Compute", "Compute: {z: label + 1}", "read", kSource},
  };
  return kAll;
}

/// What reads files, or has flows inside of it.
struct Holder {
  std::string yaml;
  std::function<void(const TempFolder&)> write = [](const TempFolder&) {};
};

std::vector<Holder> holders() {
  return {
      {"[LMDBData: {path: db, components: {x: 0}}]",
       [](const TempFolder& folder) {
         write_lmdb(folder.path("db"), {{"a", {0x92, 1, 2}}, {"b", {0x92, 3, 4}}});
       }},
      {"[TFRecord: {files: 'a*.tfrecord', components: {x: x}}]",
       [](const TempFolder& folder) {
         for (const std::string name : {"a0.tfrecord", "a1.tfrecord"})
           folder.write_text(name, tf_record_of({{"x", 1}}) + tf_record_of({{"x", 2}}));
       }},
      {"[WebDataset: {files: 'a*.tar', components: {x: x}}]",
       [](const TempFolder& folder) {
         for (const std::string name : {"a0.tar", "a1.tar"})
           folder.write_text(name, tar_file("0.x", "1") + tar_file("1.x", "2"));
       }},
      {"[Streamed: {source: {CSV: {file: a.csv, columns: {x: [x]}}}}]",
       [](const TempFolder& folder) { folder.write_text("a.csv", "x\n1\n2\n3\n"); }},
      {"[ConcatData: [[Odd], [Odd: {size: 5}]]]"},
      {"[JoinData: [[OddInOrder], [Odd]]]"},
      {"[RandomChooseData: {flows: [[Odd], [OddInOrder]]}]"},
  };
}

/// What this process holds, compared with a former state.
class Held {
 public:
  Held() : files_(open_files()), threads_(threads()) { reset_allocations(); }

  void expect_no_more(const std::string& what) const {
    EXPECT_LE(open_files(), files_) << what;
    EXPECT_LE(threads_left(threads_), threads_) << what;
  }

 private:
  size_t files_;
  size_t threads_;
};

void read_cursor(const DataFlow& flow, const Pass& pass, int64_t items) {
  const auto cursor = flow.open(pass);
  Datapoint d;
  while (items-- > 0 && cursor->next(d)) continue;
}
void read_stream(const DataFlow& flow, int64_t passes, int64_t items) {
  const auto stream = flow.stream({.workers = 3, .slots = 2, .passes = passes});
  while (items-- > 0 && stream->next()) continue;
}

/// The bytes that a flow needs, and how many more it has after 50 passes than after 5.
struct FlowBytes {
  int64_t needed = 0;
  int64_t more = 0;
};
FlowBytes bytes_of_passes(const TempFolder& folder, const std::string& yaml) {
  const int64_t without = allocations().live_bytes;
  const DataFlow flow = folder.flow(yaml);
  flow.prepare();
  const auto read_passes = [&](int64_t from, int64_t to) {
    for (int64_t pass = from; pass < to; ++pass) read_cursor(flow, {.pass = pass}, kEndless);
    read_stream(flow, to - from, kEndless);
  };
  read_passes(0, 5);
  const int64_t after_5 = allocations().live_bytes;
  read_passes(5, 50);
  return {after_5 - without, allocations().live_bytes - after_5};
}

/// A thousand flows, most of whose readers stop after one item; then 50 passes of one flow.
void expect_nothing_left(const TempFolder& folder, const std::string& yaml) {
  const auto use = [&](int64_t n) {
    const DataFlow flow = folder.flow(yaml);
    flow.prepare();
    if (n % 50 == 0) read_stream(flow, 1, n % 100 == 0 ? 1 : kEndless);
    read_cursor(flow, {.pass = n % 3}, n % 10 == 1 ? kEndless : 1);
  };
  for (int64_t n = 0; n < 60; ++n) use(n);
  const Held before;
  for (int64_t n = 0; n < (allocations_are_counted() ? 1000 : 100); ++n) use(n);  // sanitizers are slow
  const int64_t left = allocations().live_bytes;
  const FlowBytes bytes = bytes_of_passes(folder, yaml);
  before.expect_no_more(yaml);
  if (!allocations_are_counted()) return;
  constexpr double kOnce = 256;  // of what is made when it is first needed
  const double slack = 0.02 * static_cast<double>(bytes.needed) + kOnce;
  EXPECT_LE(static_cast<double>(left), slack) << yaml << ": bytes left by closed flows";
  EXPECT_LE(static_cast<double>(bytes.more), slack) << yaml << ": more bytes after 50 passes than after 5";
}

TEST(LeavesNothing, knows_every_stage) {
  std::set<std::string> known;
  for (const Part& part : parts()) known.insert(part.name);
  for (const ComponentInfo* info : Registry<Stage>::table().list()) {
    if (info->file.find("tests/") != std::string::npos) continue;
    EXPECT_TRUE(known.contains(info->name)) << info->name << ": add it to parts()";
  }
}

TEST(LeavesNothing, of_stages_and_maps) {
  if (!allocations_are_counted())
    std::puts("memory is not compared: a sanitizer has an allocator of its own");
  const CapturedLog log;
  for (const Part& part : parts())
    for (const std::string& source : part.sources)
      expect_nothing_left(TempFolder(), part.flow(source, false));
}

TEST(LeavesNothing, of_sources) {
  const CapturedLog log;
  for (const Holder& holder : holders()) {
    const TempFolder folder;
    holder.write(folder);
    expect_nothing_left(folder, holder.yaml);
  }
}

TEST(LeavesNothing, of_a_flow_that_fails_but_its_component_and_sample) {
  const CapturedLog log;
  constexpr int64_t kPasses = 20;  // some draw samples, so that the odd one may be in a later pass
  for (const Part& part : parts()) {
    for (const std::string& source : part.sources) {
      const TempFolder folder;
      const std::string yaml = part.flow(source, true);
      const auto read = [&](bool with_stream) {
        return error_of([&] {
          const DataFlow flow = folder.flow(yaml);
          flow.prepare();
          if (with_stream) read_stream(flow, kPasses, kEndless);
          for (int64_t pass = 0; pass < kPasses; ++pass) read_cursor(flow, {.pass = pass}, kEndless);
        });
      };
      read(true);
      const Held before;
      for (const bool with_stream : {false, true, false, true}) {
        const std::string error = read(with_stream);
        const std::string place =
            part.place == "odd_" ? (source == "Odd" ? "odd_0" : "odd_in_order_0") : part.place;
        EXPECT_TRUE(says(error, {"flow.yaml:1:", place + ", sample 3 of pass "})) << yaml;
      }
      before.expect_no_more(yaml);
    }
  }
}

}  // namespace
}  // namespace tpack
