#include "dataflow/flow_helpers.h"
#include "dataflow/mat_writer.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

/// X[row, column, channel, n] = row + 2 * column + 64 * channel + n, the row fastest.
Bytes svhn_pixels(int images) {
  Bytes all;
  for (int n = 0; n < images; ++n) {
    for (int channel = 0; channel < 3; ++channel)
      for (int column = 0; column < 32; ++column)
        for (int row = 0; row < 32; ++row)
          all.push_back(static_cast<uint8_t>(row + 2 * column + 64 * channel + n));
  }
  return all;
}

void write_svhn(const TempFolder& folder, const std::string& name, const Bytes& labels,
                bool is_packed = true) {
  const MatWriter mat;
  const auto count = static_cast<int32_t>(labels.size());
  folder.write(name, mat_file({mat.bytes("X", {32, 32, 3, count}, svhn_pixels(count)),
                               mat.numbers("y", {count, 1}, {labels.begin(), labels.end()})},
                              is_packed));
}

TEST(SvhnDigit, gives_pixels_and_digits) {
  for (const bool is_packed : {false, true}) {
    const TempFolder folder;
    write_svhn(folder, "svhn/test_32x32.mat", {1, 10, 9}, is_packed);
    const DataFlow flow = folder.flow("[SVHNDigit: {split: test, dir: .}]");
    EXPECT_EQ(flow.size(), 26032) << "as published, before the file was read";
    flow.prepare();
    EXPECT_EQ(flow.size(), 3);
    EXPECT_EQ(flow.spec().str(), "image uint8 [32, 32, 3], label int32 []");
    const auto cursor = flow.open({});
    Datapoint d;
    Numbers labels;
    for (int n = 0; n < 3; ++n) {
      ASSERT_TRUE(cursor->next(d));
      labels.push_back(d.tensor(1).at(0));
      EXPECT_EQ(d.to_tensor(0).at((5 * 32 + 7) * 3 + 2), 5 + 2 * 7 + 64 * 2 + n);
    }
    EXPECT_EQ(labels, (Numbers{1, 0, 9}));
  }
}

TEST(SvhnDigit, names_what_is_wrong) {
  const TempFolder folder;
  const MatWriter mat;
  const auto error = [&](const std::vector<std::string>& variables) {
    folder.write("test_32x32.mat", mat_file(variables));
    return error_of([&] { folder.flow("[SVHNDigit: {split: test, dir: .}]").prepare(); });
  };
  const std::string x = mat.bytes("X", {32, 32, 3, 1}, svhn_pixels(1));
  EXPECT_TRUE(says(error({x}), {"test_32x32.mat: has no variable 'y'"}));
  EXPECT_TRUE(says(error({x, mat.numbers("y", {1, 1}, {11})}), {"label 11 of image 0"}));
  EXPECT_TRUE(says(error({x, mat.numbers("y", {1, 1}, {-1})}), {"'y'", "from 0 to 255"}));
  EXPECT_TRUE(says(error({x, mat.numbers("y", {2, 1}, {1, 1})}), {"2 labels for the 1 images"}));
  EXPECT_TRUE(says(error({mat.bytes("X", {2, 2}, {1, 2, 3, 4}), mat.numbers("y", {1, 1}, {1})}),
                   {"uint8 [2, 2]", "must be [32, 32, 3, images]"}));
  const TempFolder empty;
  EXPECT_TRUE(fails([&] { empty.flow("[SVHNDigit: {split: extra, dir: .}]").prepare(); },
                    {"dataset svhn: extra_32x32.mat not found", "http://ufldl.stanford.edu/housenumbers/",
                     "tpack data fetch SVHNDigit --dir "}));
}

/// [image, pixel], the image fastest: image n has pixel n of its second column.
void write_silhouettes(const TempFolder& folder, const std::string& name, int images,
                       const std::vector<std::string>& further = {}) {
  const MatWriter mat;
  const auto count = static_cast<size_t>(images);
  std::vector<std::string> variables = further;
  std::vector<std::string> names;
  for (int i = 0; i < 101; ++i) names.push_back(mat.text("", "thing " + std::to_string(i)));
  if (variables.empty()) variables.push_back(mat.cell("classnames", names));
  int label = 1;
  for (const std::string prefix : {"train", "val", "test"}) {
    Bytes pixels(count * 784);
    for (size_t n = 0; n < count; ++n) pixels[n + count * (28 + n)] = 1;
    variables.push_back(mat.bytes(prefix + "_data", {images, 784}, pixels));
    variables.push_back(
        mat.numbers(prefix + "_labels", {images, 1}, Numbers(count, static_cast<double>(label))));
    label += 50;
  }
  folder.write(name, mat_file(variables, true));
}

TEST(Caltech101Silhouettes, gives_pixels_and_classes) {
  const TempFolder folder;
  write_silhouettes(folder, "caltech101_silhouettes_28_split1.mat", 3);
  const DataFlow flow = folder.flow("[Caltech101Silhouettes: {split: test, dir: .}]");
  flow.prepare();
  EXPECT_EQ(flow.spec()[1].classes.size(), 101U);
  EXPECT_EQ(flow.size(), 3);
  EXPECT_EQ(flow.spec()[1].class_name(100), "thing 100");
  Datapoint d = first_sample(flow, {.position = 2});
  EXPECT_EQ(d.tensor(1).at(0), 100);
  for (int64_t row = 0; row < 28; ++row)
    for (int64_t column = 0; column < 28; ++column)
      EXPECT_EQ(d.to_tensor(0).at(row * 28 + column), row == 2 && column == 1 ? 255 : 0);
  EXPECT_EQ(first_component(folder.flow(
                "[Caltech101Silhouettes: {split: validation, dir: .}, SelectComponent: [label]]")),
            (Integers{50, 50, 50}));
}

TEST(Caltech101Silhouettes, names_what_is_wrong) {
  const TempFolder folder;
  const MatWriter mat;
  write_silhouettes(folder, "caltech101_silhouettes_28_split1.mat", 1,
                    {mat.cell("classnames", {mat.text("", "one")})});
  const auto prepare = [&] { folder.flow("[Caltech101Silhouettes: {dir: .}]").prepare(); };
  EXPECT_TRUE(fails(prepare, {"split1.mat: has 'classnames' of cell [1, 1]", "101"}));
  folder.write(
      "caltech101_silhouettes_28_split1.mat",
      mat_file({mat.bytes("train_labels", {1, 1}, {1}), mat.bytes("train_data", {1, 784}, Bytes(784, 2))}));
  EXPECT_TRUE(fails(prepare, {"'train_data'", "from 0 to 1"}));
}

/// The datasets of the tests of fields, written once.
std::string content_with_mat_files(const std::string& source) {
  static const auto all = [] {
    auto made = std::make_unique<TempFolder>();
    const TempFolder& folder = *made;
    for (const int count : {3, 4}) {
      const std::string copy = count == 3 ? "first/" : "second/";
      uint8_t digit = 1;
      for (const std::string split : {"train", "test", "extra"})
        write_svhn(folder, copy + split + "_32x32.mat", Bytes(static_cast<size_t>(count), digit++));
      write_silhouettes(folder, copy + "caltech101_silhouettes_28_split1.mat", count);
    }
    return made;
  }();
  return content_of_flow("[" + source + "]", all->path("flow.yaml"));
}

const live::Component kMatInFirst = {
    .base = "{dir: first}", .values = {{"dir", "second"}}, .build = content_with_mat_files};
const live::Fields kSvhn("source", "SVHNDigit", kMatInFirst);
const live::Fields kSilhouettes("source", "Caltech101Silhouettes", kMatInFirst);

}  // namespace
}  // namespace tpack
