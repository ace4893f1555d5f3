// Every source, map, function, augmentor and stage gives the same bits for any number of workers and readers,
// and after interruptions.
#include <set>

#include "core/registry.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/map/tensor_map.h"
#include "dataflow/sample_error.h"
#include "image/augment/augmentor.h"
#include "support/captured_log.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

constexpr int64_t kMostItems = 12;  // of a stream that may be long
constexpr uint64_t kSeed = 11;

std::string text_of(Datapoint& item) {
  std::string text = item.id().str();
  for (size_t i = 0; i < item.size(); ++i) {
    const Tensor& x = item.to_tensor(i);
    const std::string_view bytes(reinterpret_cast<const char*>(x.raw()), x.bytes());
    text += " " + x.spec().str() + " " + std::to_string(stable_hash(bytes));
  }
  return text;
}

/// Up to the first bad sample.
Texts items_of(Stream& stream, int64_t most) {
  Texts all;
  try {
    while (std::ssize(all) < most) {
      auto item = stream.next();
      if (!item) break;
      all.push_back(text_of(item->datapoint()));
    }
  } catch (const SampleError& error) {
    if (error.kind() != ErrorKind::kData) throw;
  }
  return all;
}

/// What differs; empty if nothing does.
std::string difference(const DataFlow& flow) {
  const auto stream = [&](size_t workers, int64_t shard = 0, int64_t shards = 1, DataPosition position = {}) {
    return flow.stream({.seed = kSeed,
                        .workers = workers,
                        .slots = 3,
                        .shard = shard,
                        .shard_count = shards,
                        .position = position,
                        .passes = 2 - position.pass});
  };
  const Texts expected = items_of(*stream(1), kMostItems);
  if (expected.empty()) return "there are no items";
  const auto most = std::ssize(expected);
  for (const size_t workers : {2U, 7U, 16U})
    if (items_of(*stream(workers), most) != expected)
      return "other items with " + std::to_string(workers) + " workers";
  for (const int64_t shards : {2, 4}) {
    for (int64_t shard = 0; shard < shards; ++shard) {
      Texts own;
      for (int64_t n = shard; n < std::ssize(expected); n += shards)
        own.push_back(expected[static_cast<size_t>(n)]);
      if (items_of(*stream(2, shard, shards), std::ssize(own)) != own)
        return "other items for reader " + std::to_string(shard) + " of " + std::to_string(shards);
    }
  }
  Texts in_parts;
  DataPosition position;
  const auto size = flow.finite_size();
  const int64_t pass = size ? std::min<int64_t>(*size, std::ssize(expected)) : std::ssize(expected);
  for (int64_t part = 0; part < 4; ++part) {  // three interruptions
    const auto from = stream(3, 0, 1, position);
    const int64_t expected_left = most - std::ssize(in_parts);
    const int64_t taken = part == 3 ? expected_left : std::min<int64_t>((pass + 3) / 4, expected_left);
    for (std::string& item : items_of(*from, taken)) in_parts.push_back(std::move(item));
    position = from->position();
    if (position.pass > 1) break;
  }
  return in_parts == expected ? "" : "other items after interruptions";
}

/// The components of a kind whose flows differ, or were not read.
Texts unequal(const ComponentTable& table, const live::Build& build, const std::set<std::string>& left_out) {
  Texts all;
  const auto& entries = live::entries_of(table.kind());
  for (const ComponentInfo* info : table.list()) {
    if (left_out.contains(info->name)) continue;
    const auto entry = entries.find(info->name);
    const live::Component component = entry == entries.end() ? live::Component{} : entry->second;
    int read = 0;
    const FlowWatch watch([&](const DataFlow& flow) {
      ++read;
      if (flow.seek() == Seek::kNone) return;  // its samples come only once
      const std::string why = error_of([&] {
        const std::string found = difference(flow);
        if (!found.empty()) throw DataError(found);
      });
      if (why != "no error") all.push_back(info->name + ": " + why);
    });
    const CapturedLog log;
    const std::string error = live::Probe(*info, component, {build}).base_error();
    if (read == 0) all.push_back(info->name + ": its flow was not read" + error);
  }
  return all;
}

TEST(SameSamples, of_every_source) {
  const auto content = [](const std::string& item) { return content_of_flow("[" + item + "]"); };
  EXPECT_THAT(
      unequal(Registry<Source>::table(), content, {"AsyncRollouts", "ExpReplay", "Rollouts", "RemoteData"}),
      testing::IsEmpty())
      << "agents are tested in tests/agents; RemoteData needs a server, see remote_data_test";
}

TEST(SameSamples, of_every_stage) {
  const auto content = [](const std::string& item) {
    return content_of_flow("[{FakeData: {shapes: [[], []], names: [image, label], size: 80}}, " + item + "]");
  };
  EXPECT_THAT(unequal(Registry<Stage>::table(), content, {}), testing::IsEmpty());
}

TEST(SameSamples, of_every_map) {
  const auto content = [](const std::string& item) {
    return content_of_flow("[{RenderedDigits: {size: 12}}, " + item + "]");
  };
  EXPECT_THAT(unequal(Registry<Map>::table(), content, {"Picky"}), testing::IsEmpty());
}

TEST(SameSamples, of_every_function) {
  const auto content = [](const std::string& item) {
    const std::string data =
        item.starts_with("{Grayscale")
            ? "shapes: [[6, 6, 3]], names: [x], size: 9, domain: [0, 255], dtype: [uint8]"
            : "shapes: [[]], names: [x], size: 9, domain: [0, 3], dtype: [int32]";
    return content_of_flow("[{FakeData: {" + data + "}}, {MapData: {component: x, map: " + item + "}}]");
  };
  EXPECT_THAT(unequal(Registry<TensorMap>::table(), content, {}), testing::IsEmpty());
}

TEST(SameSamples, of_every_augmentor) {
  for (const ComponentInfo* info : Registry<Augmentor>::table().list()) {
    if (info->file.find("tests/") != std::string::npos) continue;
    const std::string item = info->fields().empty() || info->example().empty() ? info->name : info->example();
    const DataFlow flow = yaml_flow(
        "[FakeData: {shapes: [[232, 232, 3]], dtype: [uint8], names: [image], size: 4, "
        "domain: [0, 256]}, AugmentImageComponent: [{" +
        item + (item == info->name ? ": {}" : "") + "}]]");
    EXPECT_EQ(difference(flow), "") << info->name;
  }
}

}  // namespace
}  // namespace tpack
