#include "dataflow/cache_file.h"

#include "core/digest.h"
#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

const Spec kSpec = {{"x", {DType::kFloat32, {Shape::kUnknown}}}, {"k", {DType::kInt64, {}}}};

Datapoint sample_of(const std::vector<float>& x, int64_t k) {
  Datapoint d;
  d.resize(2);
  d.set_tensor(0, Tensor::of<float>({std::ssize(x)}, x));
  d.set_tensor(1, Tensor::scalar(k));
  d.set_id({5, k, 2});
  return d;
}

TEST(SampleBytes, are_read_back) {
  Datapoint d = sample_of({1.5F, -2}, 7);
  Datapoint back;
  read_sample(sample_bytes(d, kSpec), kSpec, back);
  EXPECT_TRUE(bit_equal(back.tensor(0), Tensor::of<float>({2}, {1.5F, -2})));
  EXPECT_EQ(back.tensor(1).at(0), 7);
  EXPECT_EQ(back.id(), (SampleId{0, 7, 2}));
}

TEST(SampleBytes, of_another_type_or_damaged_are_errors) {
  Datapoint d = sample_of({1}, 7);
  const Spec other = {{"x", {DType::kInt32, {Shape::kUnknown}}}, {"k", {DType::kInt64, {}}}};
  EXPECT_TRUE(fails([&] { sample_bytes(d, other); }, {"component 'x' is float32 [1], not int32 [?]"}));
  const std::string bytes = sample_bytes(d, kSpec);
  Datapoint out;
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_TRUE(fails([&] { read_sample(bytes.substr(0, size), kSpec, out); }, {"damaged"})) << size;
  for (const char value : {char(0x7f), char(0xff)}) {  // as sizes, too
    for (size_t at = 16; at < 24; ++at) {
      std::string changed = bytes;
      changed[at] = value;
      EXPECT_TRUE(fails([&] { read_sample(changed, kSpec, out); }, {"damaged"})) << at;
    }
  }
  EXPECT_TRUE(fails([&] { read_sample(bytes + "x", kSpec, out); }, {"damaged"}));
  for (const size_t last_of_number : {7U, 15U}) {  // of the index and the repetition: maps multiply them
    std::string changed = bytes;
    changed[last_of_number] = char(0x7f);
    EXPECT_TRUE(fails([&] { read_sample(changed, kSpec, out); }, {"damaged"})) << last_of_number;
  }
}

TEST(CacheFile, is_opened_only_with_its_digest) {
  const TempFolder folder;
  const std::string path = folder.path("a.cache");
  std::string stale;
  EXPECT_EQ(CacheFile::open(path, digest_of("a"), stale), nullptr);
  EXPECT_EQ(stale, "");
  CacheFile::write(path, digest_of("a"), [](const CacheFile::Add& add) {
    add("first");
    add(std::nullopt);
    add("third one");
  });
  const auto file = CacheFile::open(path, digest_of("a"), stale);
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->size(), 3);
  EXPECT_EQ(file->sample(0), "first");
  EXPECT_EQ(file->sample(1), std::nullopt);
  EXPECT_EQ(file->sample(2), "third one");
  EXPECT_EQ(CacheFile::open(path, digest_of("b"), stale), nullptr);
  EXPECT_TRUE(says(stale, {"have changed"}));
}

TEST(CacheFile, damage_is_found) {
  const TempFolder folder;
  const std::string path = folder.path("a.cache");
  CacheFile::write(path, digest_of("a"), [](const CacheFile::Add& add) { add("first"); });
  const auto size = std::filesystem::file_size(path);
  for (uintmax_t left = 0; left < size; ++left) {
    const std::string copy = folder.path("copy.cache");
    std::filesystem::copy_file(path, copy, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(copy, left);
    std::string stale;
    EXPECT_EQ(CacheFile::open(copy, digest_of("a"), stale), nullptr) << left;
    EXPECT_TRUE(says(stale, {"damaged"})) << left;
  }
}

TEST(CacheFile, a_failure_leaves_the_old_file) {
  const TempFolder folder;
  const std::string path = folder.path("a.cache");
  CacheFile::write(path, digest_of("a"), [](const CacheFile::Add& add) { add("old"); });
  EXPECT_TRUE(fails(
      [&] {
        CacheFile::write(path, digest_of("b"), [](const CacheFile::Add& add) {
          add("new");
          throw DataError("it fails");
        });
      },
      {"it fails"}));
  std::string stale;
  EXPECT_EQ(CacheFile::open(path, digest_of("a"), stale)->sample(0), "old");
  EXPECT_FALSE(std::filesystem::exists(path + ".tmp"));
}

}  // namespace
}  // namespace tpack
