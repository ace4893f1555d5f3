#include <chrono>
#include <cstdlib>

#include "dataflow/flow_helpers.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

DataFlow flow_of(const TempFolder& folder, const std::string& name = "Mnist") {
  return folder.flow("[" + name + ": {split: test, dir: .}]");
}

TEST(Mnist, gives_pixels_and_labels_as_they_are_in_the_files) {
  const TempFolder folder;
  folder.write("mnist/t10k-images-idx3-ubyte", mnist_images(3));
  folder.write("mnist/t10k-labels-idx1-ubyte", mnist_labels({7, 0, 9}));
  const DataFlow flow = flow_of(folder);
  EXPECT_EQ(flow.size(), 10000) << "as declared, before the files were read";
  flow.prepare();
  EXPECT_EQ(flow.size(), 3);
  EXPECT_EQ(flow.spec().str(), "image uint8 [28, 28, 1], label int32 []");
  EXPECT_EQ(flow.spec()[1].classes.size(), 10U);
  Datapoint d = first_sample(flow, {.position = 2});
  EXPECT_EQ(d.tensor(0).at(5), 7);
  EXPECT_EQ(d.tensor(1).at(0), 9);
}

TEST(Mnist, has_two_splits_and_shuffles_the_training_one_by_default) {
  const TempFolder folder;
  const Integers train = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  const Integers test = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
  for (const auto& [prefix, values] : {std::pair("train", train), std::pair("t10k", test)}) {
    folder.write(std::string("mnist/") + prefix + "-images-idx3-ubyte", mnist_images(10));
    folder.write(std::string("mnist/") + prefix + "-labels-idx1-ubyte",
                 mnist_labels({values.begin(), values.end()}));
  }
  const auto in_order = [&](const std::string& params) {
    return first_component(folder.flow("[Mnist: {dir: ., split: " + params + "}, SelectComponent: [label]]"));
  };
  EXPECT_EQ(in_order("test"), test);
  EXPECT_EQ(in_order("train, shuffle: false"), train);
  EXPECT_NE(in_order("train"), train);
  EXPECT_THAT(in_order("train"), testing::UnorderedElementsAreArray(train));
  EXPECT_NE(in_order("test, shuffle: true"), test);
}

TEST(Mnist, files_that_do_not_belong_together_are_rejected) {
  const TempFolder folder;
  const std::string pixels = folder.write("mnist/t10k-images-idx3-ubyte", mnist_images(3));
  const std::string numbers = folder.write("mnist/t10k-labels-idx1-ubyte", mnist_labels({7, 0}));
  EXPECT_TRUE(fails([&] { flow_of(folder).prepare(); }, {numbers + ": has 2 labels for the 3 ", pixels}));
  folder.write("mnist/t10k-labels-idx1-ubyte", mnist_labels({7, 0, 10}));
  EXPECT_TRUE(fails([&] { flow_of(folder).prepare(); }, {numbers + ": label 10 of image 2", "from 0 to 9"}));
}

TEST(Mnist, absent_files_are_a_data_error_with_their_origin) {
  const TempFolder folder;
  const DataFlow flow = flow_of(folder, "FashionMnist");
  EXPECT_TRUE(fails([&] { flow.prepare(); },
                    {"dataset fashion-mnist: t10k-images-idx3-ubyte[.gz], t10k-labels-idx1-ubyte[.gz]",
                     "https://github.com/zalandoresearch/fashion-mnist"}));
  EXPECT_THROW(flow.prepare(), DataError) << "and again";
}

TEST(Mnist, the_real_files_are_read) {
  if (std::getenv("TPACK_DATASET") == nullptr)
    GTEST_SKIP() << "TPACK_DATASET is not set: no real MNIST to read";
  const DataFlow flow = yaml_flow("[Mnist, BatchData: 100]");
  const auto stream = flow.stream({.seed = 1, .passes = 1});
  std::vector<int> count(10);
  while (auto batch = stream->next()) {
    for (const int32_t label : batch->tensor(1).span<int32_t>()) ++count[static_cast<size_t>(label)];
  }
  EXPECT_EQ(count, (std::vector<int>{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949}));
}

TEST(Mnist, has_another_fingerprint_when_a_file_has_another_date) {
  const TempFolder folder;
  folder.write("mnist/t10k-images-idx3-ubyte", mnist_images(3));
  const std::string labels_file = folder.write("mnist/t10k-labels-idx1-ubyte", mnist_labels({7, 0, 7}));
  const std::string before = flow_of(folder).fingerprint();
  EXPECT_EQ(before.size(), 32U);
  EXPECT_EQ(flow_of(folder).fingerprint(), before);
  using std::chrono::hours;
  std::filesystem::last_write_time(labels_file, std::filesystem::last_write_time(labels_file) - hours(1));
  EXPECT_NE(flow_of(folder).fingerprint(), before);
  EXPECT_EQ(describe(flow_of(folder).facts()),
            "3 images in 10 classes (0: 1, 1: 0, 2: 0, 3: 0, 4: 0, 5: 0, 6: 0, 7: 2, 8: 0, 9: 0)");
}

/// The flow of a source in a folder with two copies of the datasets, of which one is larger.
std::string content_with_datasets(const std::string& source) {
  const TempFolder folder;
  for (const std::string dataset : {"mnist", "fashion-mnist"}) {
    for (const uint8_t count : {uint8_t{5}, uint8_t{6}}) {
      for (const std::string split : {"train", "t10k"}) {
        const std::string files = (count == 5 ? "first/" : "second/") + dataset + "/" + split;
        Bytes labels(count, split == "train" ? 1 : 2);
        labels[0] = 0;
        folder.write(files + "-images-idx3-ubyte", mnist_images(count));
        folder.write(files + "-labels-idx1-ubyte", mnist_labels(labels));
      }
    }
  }
  return content_of_flow("[" + source + "]", folder.path("flow.yaml"));
}

const live::Component kInFirstFolder = {
    .base = "{dir: first}", .values = {{"dir", "second"}}, .build = content_with_datasets};
const live::Fields kMnist("source", "Mnist", kInFirstFolder);
const live::Fields kFashionMnist("source", "FashionMnist", kInFirstFolder);

}  // namespace
}  // namespace tpack
