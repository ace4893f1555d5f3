#include "dataflow/fitted_data.h"
#include "dataflow/flow_helpers.h"
#include "dataflow/test_databases.h"
#include "dataflow/test_images.h"
#include "records/test_records.h"
#include "support/live_fields.h"

namespace tpack {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::string text_of_bytes(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

DataFlow flow_of_tar(const TempFolder& folder, const std::string& components,
                     const std::string& more = "shuffle: false") {
  return folder.flow("[WebDataset: {files: a.tar, components: {" + components + "}, " + more + "}]");
}

TEST(WebDataset, joins_files_of_one_name) {
  const TempFolder folder;
  const std::string png = text_of_bytes(encode_png(photo(2, 1)));
  folder.write_text("a.tar", tar_archive({{"d.1/s0.png", png},
                                          {"d.1/s0.cls", "3\n"},
                                          {"__index__.json", "{}"},
                                          {"d.1/s1.cls", "4"},
                                          {"d.1/s1.PNG", png},
                                          {"._s1.cls", "x"}}));
  const DataFlow flow = folder.flow("[WebDataset: {files: a.tar, shuffle: false}]");
  flow.prepare();
  EXPECT_EQ(flow.spec().str(), "image uint8 [1, 2, 3], label int32 []");
  const Rows rows = samples_of(flow);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].back(), 3);
  EXPECT_EQ(rows[1].back(), 4);
}

TEST(WebDataset, reads_arrays_and_fields_of_json) {
  const TempFolder folder;
  const std::string array = text_of_bytes(npy_file("<f4", "(2,)", {0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}));
  const std::string turned = text_of_bytes(npy_file("|u1", "(2, 3)", {1, 2, 3, 4, 5, 6}, true));
  folder.write_text(
      "a.tar",
      tar_archive({{"0.x.npy", array},
                   {"0.turned.npy", turned},
                   {"0.json", R"({"label": 2, "box": [1.5, 2, 3], "name": "dog", "deep": {"a": 1}})"}}));
  const DataFlow flow =
      flow_of_tar(folder,
                  "x: x.npy, t: turned.npy, label: json.label, box: json.box, name: {field: "
                  "json.name, classes: [cat, dog]}");
  flow.prepare();
  EXPECT_EQ(flow.spec().str(),
            "x float32 [2], t uint8 [2, 3, 1], label int32 [], box float32 [3], name int32 []");
  EXPECT_EQ(samples_of(flow), (Rows{{1, 2, 1, 3, 5, 2, 4, 6, 2, 1.5, 2, 3, 1}}));
}

TEST(WebDataset, takes_the_first_of_several_fields) {
  const TempFolder folder;
  folder.write_text("a.tar", tar_archive({{"0.b", "1"}, {"1.c", "2"}, {"2.b", "3"}, {"2.c", "4"}}));
  EXPECT_EQ(samples_of(flow_of_tar(folder, "x: b;c")), (Rows{{1}, {2}, {3}}));
  EXPECT_THAT([&] { samples_of(flow_of_tar(folder, "x: b")); },
              ThrowsMessage<SampleError>(HasSubstr("a.tar[1]: has no field 'b'; it has c (text '2')")));
}

/// Labels are numbers among the classes of their own file; the model has those of data.train.
TEST(WebDataset, labels_follow_the_classes_of_the_training_data) {
  const TempFolder folder;
  folder.write_text("train.tar", tar_archive({{"0.cls", "0"}, {"1.cls", "1"}, {"2.cls", "2"}}));
  folder.write_text("a.tar", tar_archive({{"0.cls", "0"}, {"1.cls", "1"}}));
  const auto classes = [](const std::string& file, const std::string& names) {
    return "[WebDataset: {files: " + file + ", shuffle: false, components: {label: {field: cls, classes: [" +
           names + "]}}}]";
  };
  const DataFlow train = folder.flow(classes("train.tar", "ant, bee, cat"));
  const auto fit = std::make_shared<Fit>(train);
  const DataFlow other = folder.flow(classes("a.tar", "cat, bee"), fit);
  EXPECT_EQ(samples_of(other), (Rows{{2}, {1}}));
  EXPECT_EQ(other.spec()[0].classes, (Texts{"ant", "bee", "cat"}));
  EXPECT_TRUE(fails(
      [&] { folder.flow(classes("a.tar", "cats, bee"), fit).prepare(); },
      {"component 'label' has the class 'cats'; did you mean 'cat'?, which is not a class of data.train"}));
}

TEST(WebDataset, reports_what_is_no_sample) {
  const TempFolder folder;
  const auto content_error = [&](const std::string& archive, const std::string& text) {
    folder.write_text("a.tar", archive);
    EXPECT_THAT([&] { samples_of(flow_of_tar(folder, "x: x")); }, ThrowsMessage<DataError>(HasSubstr(text)));
  };
  content_error(tar_archive({{"0.x", "1"}, {"0.x", "2"}}),
                "two files 'x'; samples must be divided by their names");
  content_error(tar_archive({{"README", "1"}}), "has no records");
  content_error("\x1f\x8b compressed", "is compressed; unpack it with gunzip");
  content_error(tar_archive({{"0.x", "1"}, {"0.json", "{"}}), "'json' is not JSON");
  content_error(tar_archive({{"0.x", "dog"}}), "is text 'dog'");
}

std::string content_with_archives(const std::string& source) {
  const TempFolder folder;
  std::string archive;
  for (int i = 0; i < 300; ++i) archive += tar_file(std::to_string(i) + ".cls", std::to_string(i));
  folder.write_text("train.tar", archive);
  folder.write_text("other.tar", tar_archive({{"0.cls", "7"}}));
  return content_of_flow("[" + source + "]", folder.path("flow.yaml"));
}

const live::Fields kWebDataset(
    "source", "WebDataset",
    {.base = "{files: train.tar, components: {x: cls}}",
     .values = {{"files", "other.tar"}, {"components", "{y: cls}"}, {"block", "4"}},
     .build = content_with_archives});

}  // namespace
}  // namespace tpack
