#include "run/data_changes.h"

#include <filesystem>

#include <gmock/gmock-matchers.h>

#include "config/yaml_reader.h"
#include "core/error.h"
#include "support/errors.h"
#include "support/on_ranks.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::Pair;

class DataChanges : public testing::Test {
 protected:
  void image(const std::string& name) const {
    std::filesystem::create_directories(std::filesystem::path(folder_ / name).parent_path());
    write_content(folder_ / name, "no pixels are read");
  }
  /// What a run reads now, as a checkpoint stores it.
  DataRecord now() const {
    std::map<std::string, DataFlow> flows;
    for (const char* name : {"train", "validation"}) {
      const DataFlow flow = make_flow(parse_yaml("[ImageFolder: " + (folder_ / name) + "]", "test.yaml"));
      flow.prepare();
      flows.emplace(name, flow);
    }
    flows.emplace("noise", make_flow(parse_yaml("[FakeData: {shapes: [[2]], size: 3}]", "test.yaml")));
    return DataRecord::from_json(DataRecord(flows).to_json(), "test");
  }

  TemporaryFolder folder_;
};

TEST_F(DataChanges, are_named_for_each_flow) {
  for (const char* name :
       {"train/ants/1.png", "train/bees/1.png", "validation/ants/1.png", "validation/bees/1.png"})
    image(name);
  const DataRecord before = now();
  EXPECT_THAT(now().changes_since(before), ElementsAre());
  image("validation/bees/2.png");
  EXPECT_THAT(
      now().changes_since(before),
      ElementsAre(Pair("validation",
                       "data.validation has changed since the checkpoint: it was 2 images in 2 classes "
                       "(ants: 1, bees: 1); it is 3 images in 2 classes (ants: 1, bees: 2); statistics of "
                       "validation cannot be compared with those before the checkpoint")));
  std::filesystem::rename(folder_ / "train/ants/1.png", folder_ / "train/ants/2.png");
  EXPECT_EQ(now().changes_since(before).size(), 2U);
  EXPECT_TRUE(says(now().changes_since(before).at("train"),
                   {"data.train has changed since the", "the run continues, possibly"}));
}

TEST_F(DataChanges, need_a_record_that_can_be_read) {
  for (const char* text : {"", "[1]", R"({"train": 1})", R"({"train": {"facts": "x"}})"})
    EXPECT_THROW(DataRecord::from_json(text, "file.h5"), CheckpointError) << text;
}

TEST_F(DataChanges, between_ranks_are_rejected) {
  for (const char* name : {"same/ants/1.png", "same/ants/2.png", "fewer/ants/1.png"}) image(name);
  /// What each rank of three says whose images are in these folders.
  const auto errors_of = [&](const std::vector<std::string>& folders) {
    return on_ranks(static_cast<int>(folders.size()), [&](int rank, const std::unique_ptr<Comm>& comm) {
      std::map<std::string, DataFlow> flows;
      const std::string folder = folder_ / folders[static_cast<size_t>(rank)];
      flows.emplace("train", make_flow(parse_yaml("[ImageFolder: " + folder + "]", "test.yaml")));
      return error_from<DistributedError>([&] { require_same_data(*comm, flows); });
    });
  };
  EXPECT_THAT(errors_of({"same", "same", "same"}), testing::Each("no error"));
  EXPECT_THAT(
      errors_of({"same", "same", "fewer"}),
      testing::Each(testing::HasSubstr("data.train: rank 2 has 1 images in 1 class (ants: 1), but rank 0")));
}

}  // namespace
}  // namespace tpack
