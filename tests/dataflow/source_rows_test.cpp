// A property of every source that reads rows: whatever is done with the order of its samples, the components
// of a row stay together, also if each of them is read by a flow of its own and joined.
#include <functional>

#include "dataflow/flow_helpers.h"
#include "dataflow/mat_writer.h"
#include "dataflow/test_databases.h"
#include "dataflow/test_images.h"
#include "records/format/pickle_writer.h"
#include "records/test_records.h"

namespace tpack {
namespace {

constexpr int kRows = 10;

/// Data of a source: kRows rows, of which the first component (`value`) and the second one (`label`) each
/// tell the row.
struct RowData {
  std::string source;  // its item, as YAML
  std::string value;
  std::string label;
  std::function<int64_t(const Tensor&)> row_of_value;
};

int64_t first_element(const Tensor& tensor) { return static_cast<int64_t>(tensor.at(0)); }
/// A picture of one gray value for each row; pictures may lose a bit of it.
Bytes picture(int row) { return encode_png(cv::Mat(4, 4, CV_8UC3, cv::Scalar::all(20 * row))); }
int64_t row_of_picture(const Tensor& pixels) { return (first_element(pixels) + 10) / 20; }
int64_t row_of_mnist(const Tensor& pixels) { return first_element(pixels); }  // see mnist_images

RowData csv(const TempFolder& folder) {
  std::string text = "c,v\n";
  for (int row = 0; row < kRows; ++row)
    text += "class" + std::to_string(row) + "," + std::to_string(row) + "\n";
  folder.write_text("a.csv", text);
  return {"CSV: {file: a.csv, columns: {v: v}, labels: {c: c}}", "v", "c", first_element};
}
/// A part that has every second row of a table.
RowData split_data(const TempFolder& folder) {
  std::string text = "c,v,part\nother,99,test\n";
  for (int row = 0; row < kRows; ++row)
    text += "class" + std::to_string(row) + "," + std::to_string(row) + ",train\nother,99,test\n";
  folder.write_text("parts.csv", text);
  return {
      "SplitData: {source: {CSV: {file: parts.csv, columns: {v: v}, labels: {c: c}}}, part: train, column: "
      "part}",
      "v", "c", first_element};
}
RowData npz(const TempFolder& folder) {
  Bytes values;
  for (uint8_t row = 0; row < kRows; ++row) values.push_back(row);
  folder.write("a.npz", zip_file({{"v.npy", npy_file("|u1", "(10,)", values)},
                                  {"c.npy", npy_file("|u1", "(10,)", values), true}}));
  return {"Npz: a.npz", "v", "c", first_element};
}
RowData svmlight(const TempFolder& folder) {
  std::string text;
  for (int row = 0; row < kRows; ++row) text += std::to_string(row) + " 1:" + std::to_string(row) + " 2:1\n";
  folder.write_text("a.svm", text);
  return {"SVMLight: a.svm", "x", "y", first_element};
}
RowData image_folder(const TempFolder& folder) {
  for (int row = 0; row < kRows; ++row)
    folder.write("images/class" + std::to_string(row) + "/a.png", picture(row));
  return {"ImageFolder: images, AugmentImageComponent: [CenterCrop: 4]", "image", "label", row_of_picture};
}
RowData image_list(const TempFolder& folder) {
  std::string text = "image,c\n";
  for (int row = 0; row < kRows; ++row) {
    folder.write("images/" + std::to_string(row) + ".png", picture(row));
    text += "images/" + std::to_string(row) + ".png,class" + std::to_string(row) + "\n";
  }
  folder.write_text("a.csv", text);
  return {"ImageList: {file: a.csv, path: image, labels: {c: c}}, AugmentImageComponent: [CenterCrop: 4]",
          "image", "c", row_of_picture};
}
/// A dataset with a folder for each class, whose images are in `below` that folder.
RowData class_folders(const TempFolder& folder, const std::string& name, const std::string& below) {
  for (int row = 0; row < kRows; ++row)
    folder.write("train/class" + std::to_string(row) + "/" + below + "a.png", picture(row));
  return {name + ": {dir: .}, AugmentImageComponent: [CenterCrop: 4]", "image", "label", row_of_picture};
}
/// Records with a label and an image of one value.
RowData cifar(const TempFolder& folder, const std::string& name, const std::string& file,
              size_t label_bytes) {
  std::string records;
  for (int row = 0; row < kRows; ++row)
    records += std::string(label_bytes, static_cast<char>(row)) + std::string(3072, static_cast<char>(row));
  folder.write_text(file, records);
  return {name + ": {split: test, dir: .}", "image", "label", first_element};
}
RowData svhn(const TempFolder& folder) {
  Bytes pixels;
  Numbers labels;
  for (uint8_t row = 0; row < kRows; ++row) {
    pixels.insert(pixels.end(), 3072, row);
    labels.push_back(row == 0 ? 10 : row);
  }
  const MatWriter mat;
  folder.write("train_32x32.mat",
               mat_file({mat.bytes("X", {32, 32, 3, kRows}, pixels), mat.numbers("y", {kRows, 1}, labels)}));
  return {"SVHNDigit: {dir: .}", "image", "label", first_element};
}
RowData caffe_lmdb(const TempFolder& folder) {
  std::map<std::string, Bytes> records;
  for (int row = 0; row < kRows; ++row)
    records["0000000" + std::to_string(row)] = encoded_datum(picture(row), row);
  write_lmdb(folder.path("db"), records);
  return {"CaffeLMDB: {path: db}", "image", "label", row_of_picture};
}
RowData lmdb_data(const TempFolder& folder) {
  std::map<std::string, Bytes> records;
  for (int row = 0; row < kRows; ++row) {
    const Bytes png = picture(row);
    PickledList list;
    list.add_bytes({reinterpret_cast<const char*>(png.data()), png.size()});
    Tensor label(TensorSpec{DType::kInt32, {}});
    *label.data<int32_t>() = row;
    list.add(label);
    const std::string pickle = list.finish();
    records["0000000" + std::to_string(row)] = Bytes(pickle.begin(), pickle.end());
  }
  write_lmdb(folder.path("db"), records);
  return {"LMDBData: {path: db}", "image", "label", row_of_picture};
}
RowData tf_record(const TempFolder& folder) {
  for (int row = 0; row < kRows; ++row) {
    const Bytes png = picture(row);
    TfExampleWriter example;
    example.add_bytes("image/encoded", {reinterpret_cast<const char*>(png.data()), png.size()});
    example.add_integers("image/class/label", std::vector<int64_t>{row});
    folder.write_text("a" + std::to_string(row) + ".tfrecord", framed_record(example.finish()));
  }
  return {"TFRecord: {files: 'a*.tfrecord'}", "image", "label", row_of_picture};
}
RowData web_dataset(const TempFolder& folder) {
  std::string archive;
  for (int row = 0; row < kRows; ++row) {
    const Bytes png = picture(row);
    archive += tar_file(std::to_string(row) + ".png", {png.begin(), png.end()});
    archive += tar_file(std::to_string(row) + ".cls", std::to_string(row));
  }
  folder.write_text("a.tar", archive);
  return {"WebDataset: {files: a.tar}", "image", "label", row_of_picture};
}
RowData mnist(const TempFolder& folder, const std::string& name, const std::string& in) {
  Bytes labels;
  for (uint8_t row = 0; row < kRows; ++row) labels.push_back(row);
  folder.write(in + "/train-images-idx3-ubyte", mnist_images(kRows));
  folder.write(in + "/train-labels-idx1-ubyte", mnist_labels(labels));
  return {name + ": {split: train, dir: " + folder.path() + "}", "image", "label", row_of_mnist};
}

const std::map<std::string, std::function<RowData(const TempFolder&)>> kSourcesOfRows = {
    {"CSV", csv},
    {"SplitData", split_data},
    {"Npz", npz},
    {"SVMLight", svmlight},
    {"ImageFolder", image_folder},
    {"ImageList", image_list},
    {"CaffeLMDB", caffe_lmdb},
    {"LMDBData", lmdb_data},
    {"TFRecord", tf_record},
    {"WebDataset", web_dataset},
    {"Cifar10", [](const TempFolder& folder) { return cifar(folder, "Cifar10", "test_batch.bin", 1); }},
    {"Cifar100", [](const TempFolder& folder) { return cifar(folder, "Cifar100", "test.bin", 2); }},
    {"SVHNDigit", svhn},
    {"ILSVRC12", [](const TempFolder& folder) { return class_folders(folder, "ILSVRC12", ""); }},
    {"TinyImageNet",
     [](const TempFolder& folder) { return class_folders(folder, "TinyImageNet", "images/"); }},
    {"Places365Standard",
     [](const TempFolder& folder) { return class_folders(folder, "Places365Standard", ""); }},
    {"Mnist", [](const TempFolder& folder) { return mnist(folder, "Mnist", "mnist"); }},
    {"FashionMnist",
     [](const TempFolder& folder) { return mnist(folder, "FashionMnist", "fashion-mnist"); }}};

/// Those that read no rows, and why.
const std::map<std::string, std::string> kWithoutRows = {
    {"AsyncRollouts", "an agent"},
    {"ExpReplay", "an agent"},
    {"Rollouts", "an agent"},
    {"FakeData", "draws each component from its place"},
    {"JoinData", "joins others"},
    {"ConcatData", "has the samples of others"},
    {"RandomMixData", "has the samples of others"},
    {"RandomChooseData", "has the samples of others"},
    {"DataFromList", "has the samples of the config; data_from_list_test looks at it"},
    {"ImageFromFile", "has only images"},
    {"Windows", "joins rows; windows_test looks at it"},
    {"Streamed", "has no order of its own; streamed_test looks at it"},
    {"PipeData", "has the samples of a program; pipe_data_test looks at them"},
    {"RemoteData", "has the samples of a server; remote_data_test looks at them"},
    {"RenderedDigits", "draws image and label together from its place"},
    {"RenderedShapes", "draws image and mask together from its place"},
    {"BSDS500", "bsds500_test looks at images with edges"},
    {"COCO", "reads with ImageBoxes"},
    {"VOCDetection", "reads with ImageBoxes"},
    {"VOCSegmentation", "reads with ImagePairs"},
    {"Caltech101Silhouettes", "has pixels of two values; its images are kept as those of SVHNDigit"},
    {"ImageBoxes", "image_boxes_test looks at images with boxes"},
    {"ImagePairs", "image_pairs_test looks at images with masks"}};

TEST(RowsKeepTogether, every_source_is_looked_at) {
  for (const ComponentInfo* info : ComponentTable::of(Source::kKind).list()) {
    if (info->file.find("tests/") != std::string::npos) continue;
    EXPECT_EQ(kSourcesOfRows.count(info->name) + kWithoutRows.count(info->name), 1U) << info->name;
  }
}

class RowsKeepTogether : public testing::TestWithParam<std::string> {
 protected:
  RowsKeepTogether() : data_(kSourcesOfRows.at(GetParam())(folder_)) {}
  /// "a": the value of a row, "b": its label. `is_joined`: each comes from a flow of its own.
  DataFlow flow(bool is_joined, const std::string& rest) const {
    const RowData& data = data_;
    const auto part = [&](const std::string& kept, const std::string& name) {
      return "[" + data.source + ", SelectComponent: [" + kept + "], RenameComponents: {names: {" + kept +
             ": " + name + "}}]";
    };
    const std::string joined = "JoinData: [" + part(data.value, "a") + ", " + part(data.label, "b") + "]";
    const std::string whole = data.source + ", SelectComponent: [" + data.value + ", " + data.label + "]";
    return folder_.flow("[" + (is_joined ? joined : whole) + rest + "]");
  }
  /// The rows of the samples that a stream gives, each checked to be one row.
  Integers rows(const DataFlow& flow, size_t workers, const DataPosition& from = {}) const {
    Integers all;
    const auto stream = flow.stream({.seed = 5, .workers = workers, .position = from, .passes = 2});
    while (const auto batch = stream->next()) {
      for (int64_t i = 0; i < batch->tensor(1).shape()[0]; ++i) {
        const int64_t row = data_.row_of_value(batch->tensor(0).row(i));
        EXPECT_EQ(static_cast<int64_t>(batch->tensor(1).at(i)), row);
        all.push_back(row);
      }
    }
    return all;
  }

  TempFolder folder_;
  RowData data_;  // its files must not change
};

TEST_P(RowsKeepTogether, in_every_order_with_any_workers_and_after_a_resume) {
  for (const bool is_joined : {false, true}) {
    for (const std::string rest :
         {"", ", LocallyShuffleData: {buffer_size: 6}", ", FixedSizeData: {size: 7}"}) {
      SCOPED_TRACE((is_joined ? "joined" : "alone") + rest);
      const DataFlow data = flow(is_joined, rest + ", BatchData: {batch_size: 3, remainder: true}");
      const Integers all = rows(data, 1);
      EXPECT_EQ(all.size(), rest.find("Fixed") != std::string::npos ? 14U : 20U);
      EXPECT_FALSE(std::is_sorted(all.begin(), all.end())) << "it is shuffled";
      EXPECT_EQ(rows(data, 3), all);
      const Integers later = rows(data, 2, {0, 2});
      EXPECT_TRUE(std::equal(later.begin(), later.end(), all.begin() + 6, all.end()));
    }
  }
}

TEST_P(RowsKeepTogether, in_shards_which_have_each_row_of_a_pass_once) {
  const DataFlow data = flow(false, ", BatchData: {batch_size: 1}");
  for (const int64_t shards : {2, 3}) {
    Integers found;
    for (int64_t shard = 0; shard < shards; ++shard) {
      const auto stream =
          data.stream({.seed = 5, .workers = 2, .shard = shard, .shard_count = shards, .passes = 1});
      while (const auto batch = stream->next()) found.push_back(static_cast<int64_t>(batch->tensor(1).at(0)));
    }
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, (Integers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})) << shards << " shards";
  }
}

INSTANTIATE_TEST_SUITE_P(Sources, RowsKeepTogether, testing::ValuesIn([] {
                           Texts names;
                           for (const auto& [name, make] : kSourcesOfRows) names.push_back(name);
                           return names;
                         }()),
                         [](const auto& param_info) { return param_info.param; });

}  // namespace
}  // namespace tpack
