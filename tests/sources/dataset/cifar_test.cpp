#include "dataflow/flow_helpers.h"
#include "dataflow/packed_bytes.h"
#include "dataflow/tar_writer.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

/// The planes of an image: red is `value` in the upper half, green counts, blue is 7.
std::string planes(int value) {
  std::string red(1024, '\0');
  red.replace(0, 512, 512, static_cast<char>(value));
  std::string green;
  for (int i = 0; i < 1024; ++i) green += static_cast<char>(i % 251);
  return red + green + std::string(1024, '\7');
}

std::string binary_batch(const std::vector<std::string>& labels) {
  std::string batch;
  for (size_t i = 0; i < labels.size(); ++i) batch += labels[i] + planes(100 + static_cast<int>(i));
  return batch;
}

/// As Python 2 wrote the published files.
std::string python_batch(const std::vector<int>& labels, const std::string& key = "labels") {
  std::string pixels;
  for (size_t i = 0; i < labels.size(); ++i) pixels += planes(100 + static_cast<int>(i));
  const auto size = static_cast<uint32_t>(pixels.size());
  std::string out = "\x80\x02}q\x01(U\x04" + std::string("data") +
                    "cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntU\x01" + "btR(I1\n(I" +
                    std::to_string(labels.size()) + "\nI3072\ntcnumpy\ndtype\n(U\x02u1I0\nI1\ntRI00\nT";
  for (unsigned shift = 0; shift < 32; shift += 8) out += static_cast<char>(size >> shift & 255U);
  out += pixels + "tbU" + static_cast<char>(key.size()) + key + "](";
  for (const int label : labels) out += "I" + std::to_string(label) + "\n";
  return out + "eu.";
}

std::string python_names(const std::string& key, int count) {
  std::string out = "}U" + std::string(1, static_cast<char>(key.size())) + key + "](";
  for (int i = 0; i < count; ++i) out += "S'name" + std::to_string(i) + "'\n";
  return out + "es.";
}

using TarFiles = std::vector<std::pair<std::string, std::string>>;

TarFiles binary_files() {
  TarFiles files = {{"cifar-10-batches-bin/batches.meta.txt",
                     "airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n\n"},
                    {"cifar-10-batches-bin/test_batch.bin", binary_batch({"\x05", "\x09"})},
                    {"cifar-10-batches-bin/readme.html", "hello"}};
  for (int i = 1; i <= 5; ++i)
    files.emplace_back("cifar-10-batches-bin/data_batch_" + std::to_string(i) + ".bin",
                       binary_batch({std::string(1, static_cast<char>(i))}));
  return files;
}

TarFiles python_files() {
  TarFiles files = {{"cifar-10-batches-py/batches.meta", python_names("label_names", 10)},
                    {"cifar-10-batches-py/test_batch", python_batch({5, 9})}};
  for (int i = 1; i <= 5; ++i)
    files.emplace_back("cifar-10-batches-py/data_batch_" + std::to_string(i), python_batch({i}));
  return files;
}

void write_all(const TempFolder& folder, const std::string& below, const TarFiles& files) {
  for (const auto& [name, content] : files) folder.write_text(below + name, content);
}

void expect_test_images(const DataFlow& flow) {
  flow.prepare();
  EXPECT_EQ(flow.size(), 2);
  EXPECT_EQ(flow.spec().str(), "image uint8 [32, 32, 3], label int32 []");
  EXPECT_EQ(flow.spec()[1].class_name(0), "airplane");
  const auto cursor = flow.open({});
  Datapoint d;
  ASSERT_TRUE(cursor->next(d));
  const Tensor image = d.to_tensor(0);
  const auto pixel = [&](int64_t y, int64_t x) {
    const auto at = [&](int64_t c) { return image.at((y * 32 + x) * 3 + c); };
    return Numbers{at(0), at(1), at(2)};
  };
  EXPECT_EQ(pixel(0, 3), (Numbers{100, 3, 7}));
  EXPECT_EQ(pixel(20, 1), (Numbers{0, (20 * 32 + 1) % 251, 7}));
  EXPECT_EQ(d.tensor(1).at(0), 5);
  ASSERT_TRUE(cursor->next(d));
  EXPECT_EQ(d.to_tensor(0).at(0), 101);
  EXPECT_EQ(d.tensor(1).at(0), 9);
}

TEST(Cifar10, is_read_from_every_published_form) {
  const std::string test = "[Cifar10: {split: test, dir: .}]";
  {
    const TempFolder folder;
    write_all(folder, "cifar10/", binary_files());
    EXPECT_EQ(remarks_of(folder.flow(test)), Texts{});
    expect_test_images(folder.flow(test));
  }
  {
    const TempFolder folder;
    write_all(folder, "", python_files());
    expect_test_images(folder.flow(test));
    expect_test_images(folder.flow("[Cifar10: {split: test, dir: cifar-10-batches-py}]"));
  }
  {
    const TempFolder folder;
    folder.write("cifar10/cifar-10-binary.tar.gz", gzip_file(tar_archive(binary_files())));
    expect_test_images(folder.flow(test));
  }
  {
    const TempFolder folder;
    folder.write("cifar-10-python.tar.gz", gzip_file(tar_archive(python_files())));
    expect_test_images(folder.flow(test));
    const DataFlow train = folder.flow("[Cifar10: {dir: ., shuffle: false}, SelectComponent: [label]]");
    EXPECT_EQ(first_component(train), (Integers{1, 2, 3, 4, 5}));
  }
}

TEST(Cifar10, has_its_published_size_and_classes_before_it_is_read) {
  const DataFlow flow = yaml_flow("[Cifar10]");
  EXPECT_EQ(flow.size(), 50000);
  EXPECT_EQ(flow.spec()[1].class_name(3), "cat");
  EXPECT_EQ(yaml_flow("[Cifar10: {split: test}]").size(), 10000);
}

TEST(Cifar100, has_fine_and_coarse_labels) {
  const TempFolder folder;
  const std::string batch = binary_batch({std::string("\x03\x07"), std::string("\x04\x63")});
  folder.write_text("cifar100/cifar-100-binary/test.bin", batch);
  const auto labels = [&](const std::string& params) {
    return first_component(
        folder.flow("[Cifar100: {split: test, dir: ., " + params + "}, SelectComponent: [label]]"));
  };
  EXPECT_EQ(labels("labels: fine, shuffle: false"), (Integers{7, 99}));
  EXPECT_EQ(labels("labels: coarse"), (Integers{3, 4}));
  const DataFlow fine = folder.flow("[Cifar100: {split: test, dir: .}]");
  fine.prepare();
  EXPECT_EQ(fine.spec()[1].classes.size(), 100U);
  EXPECT_EQ(fine.spec()[1].class_name(99), "worm");
  const TempFolder python;
  python.write_text("cifar-100-python/train", python_batch({1, 19}, "coarse_labels"));
  python.write_text("cifar-100-python/meta", python_names("coarse_label_names", 20));
  const DataFlow coarse = python.flow("[Cifar100: {dir: ., labels: coarse, shuffle: false}]");
  coarse.prepare();
  EXPECT_EQ(coarse.spec()[1].class_name(19), "vehicles_2");
  EXPECT_THAT(remarks_of(coarse),
              testing::ElementsAre(testing::HasSubstr("meta names the classes name0, name1, ")));
  EXPECT_EQ(coarse.size(), 2);
}

TEST(Cifar, names_what_is_wrong_in_its_files) {
  const std::string test = "[Cifar10: {split: test, dir: .}]";
  const auto error = [&](const std::string& name, const std::string& content) {
    const TempFolder folder;
    folder.write_text(name, content);
    return error_of([&] { folder.flow(test).prepare(); });
  };
  EXPECT_TRUE(says(error("test_batch.bin", "short"), {"test_batch.bin: has 5 bytes", "multiple of 3073"}));
  EXPECT_TRUE(says(error("test_batch.bin", binary_batch({"\x0a"})), {"label 10 of image 0", "from 0 to 9"}));
  EXPECT_TRUE(says(error("test_batch", "K\x01."), {"test_batch: has the integer 1", "dict"}));
  EXPECT_TRUE(says(error("test_batch", python_batch({1}, "fine_labels")), {"a dict of data, fine_labels"}));
  EXPECT_TRUE(says(error("test_batch", "cos\nsystem\n(S'true'\ntR."), {"an object of os.system"}));
  EXPECT_TRUE(says(error("cifar-10-binary.tar.gz", "short"), {"cifar-10-binary.tar.gz: "}));
  EXPECT_TRUE(says(error("other", ""),
                   {"dataset cifar10: ", "cifar-10-python.tar.gz", "not found",
                    "https://www.cs.toronto.edu/~kriz/cifar.html", "tpack data fetch Cifar10 --dir "}));
  const TempFolder folder;
  folder.write_text("data_batch_1", python_batch({1}));
  EXPECT_TRUE(fails([&] { folder.flow("[Cifar10: {dir: .}]").prepare(); }, {"data_batch_2: is missing"}));
}

/// The datasets of the tests of fields, written once.
std::string content_with_cifar(const std::string& source) {
  static const auto all = [] {
    auto made = std::make_unique<TempFolder>();
    const TempFolder& folder = *made;
    for (const std::string copy : {"first/", "second/"}) {
      write_all(folder, copy, binary_files());
      for (const std::string split : {"train", "test"}) {
        std::vector<std::string> labels = {"\x01\x02", "\x03\x04", "\x05\x06"};
        if (copy == "second/") labels.emplace_back("\x07\x08");
        if (split == "test") labels.emplace_back("\x09\x0a");
        folder.write_text(copy + split + ".bin", binary_batch(labels));
      }
      if (copy == "second/")
        folder.write_text(copy + "cifar-10-batches-bin/test_batch.bin", binary_batch({"\x01"}));
      if (copy == "second/")
        folder.write_text(copy + "cifar-10-batches-bin/data_batch_1.bin", binary_batch({"\x08"}));
    }
    return made;
  }();
  return content_of_flow("[" + source + "]", all->path("flow.yaml"));
}

const live::Component kInFirst = {
    .base = "{dir: first}", .values = {{"dir", "second"}}, .build = content_with_cifar};
const live::Fields kCifar10("source", "Cifar10", kInFirst);
const live::Fields kCifar100("source", "Cifar100", kInFirst);

}  // namespace
}  // namespace tpack
