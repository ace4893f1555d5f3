#include "infer/prediction_writer.h"

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

const Tensor kScores = Tensor::of<float>({3}, {0.25F, 0.5F, 0.25F});
const std::vector<WrittenOutput> kProbabilities = {{.name = "p", .classes = 3}};

TEST(TopClasses, are_sorted_and_ties_keep_their_order) {
  const auto ranked = top_classes(kScores, {"a", "b"}, 5);
  ASSERT_EQ(ranked.size(), 3U);
  EXPECT_EQ(ranked[0].label, "b");
  EXPECT_EQ(ranked[1].label, "a");
  EXPECT_EQ(ranked[2].label, "2") << "a number where there is no name";
}

TEST(TopClasses, have_nan_last) {
  Tensor scores = Tensor::zeros({DType::kFloat32, {3}});
  scores.data<float>()[0] = 0.1F;
  scores.data<float>()[1] = std::numeric_limits<float>::quiet_NaN();
  scores.data<float>()[2] = 0.9F;
  const std::vector<Ranked> ranked = top_classes(scores, {"a", "b", "c"}, 3);
  ASSERT_EQ(ranked.size(), 3U);
  EXPECT_EQ(ranked[0].label + ranked[1].label + ranked[2].label, "cab");
}

TEST(PredictionWriter, quotes_csv) {
  const TemporaryFolder folder;
  const auto writer =
      make_prediction_writer({"csv", folder / "out.csv", kProbabilities, {"x,y", "say \"b\"", "c"}, 2});
  writer->write({"one.png", {kScores}, ""});
  writer->write({"two.png", {}, "bad, very"});
  writer->finish();
  EXPECT_EQ(content_of(folder / "out.csv"),
            "file,label,score,label_2,score_2,error\n"
            "one.png,\"say \"\"b\"\"\",0.5,\"x,y\",0.25,\n"
            "two.png,,,,,\"bad, very\"\n");
}

TEST(PredictionWriter, csv_has_a_column_for_each_further_output) {
  const TemporaryFolder folder;
  const auto writer =
      make_prediction_writer({"csv",
                              folder / "out.csv",
                              {{"box"}, {.name = "p", .classes = 3}, {.name = "q", .classes = 3}},
                              {"a", "b", "c"},
                              1});
  writer->write({"one.png", {Tensor::of<float>({2, 1}, {0.1F, 2}), kScores, kScores}, ""});
  writer->finish();
  EXPECT_EQ(content_of(folder / "out.csv"),
            "file,label,score,box,q,error\none.png,b,0.5,0.1 2,0.25 0.5 0.25,\n");
}

TEST(PredictionWriter, values_are_not_ranked) {
  const TemporaryFolder folder;
  for (const char* format : {"csv", "jsonl"}) {
    const auto writer = make_prediction_writer({format, folder / format, {{"price"}}, {"a", "b", "c"}, 1});
    writer->write({"a.csv:2", {kScores}, ""});
    writer->write({"a.csv:3", {}, "bad"});
    writer->finish();
  }
  EXPECT_EQ(content_of(folder / "csv"), "file,price,error\na.csv:2,0.25 0.5 0.25,\na.csv:3,,bad\n");
  EXPECT_EQ(content_of(folder / "jsonl"), R"({"file":"a.csv:2","outputs":{"price":[0.25,0.5,0.25]}}
{"file":"a.csv:3","error":"bad"}
)");
}

TEST(PredictionWriter, names_the_labels_that_hold) {
  const TemporaryFolder folder;
  const std::vector<WrittenOutput> outputs = {{.name = "p", .is_label_set = true}};
  for (const char* format : {"csv", "jsonl"}) {
    const auto writer = make_prediction_writer({format, folder / format, outputs, {"a", "b", "c"}, 1, 0.25});
    writer->write({"one", {Tensor::of<float>({3}, {0.25F, 0.1F, 0.9F})}, ""});
    writer->write({"two", {Tensor::of<float>({3}, {0, 0, 0})}, ""});
    writer->finish();
  }
  EXPECT_EQ(content_of(folder / "csv"), "file,labels,error\none,a;c,\ntwo,,\n");
  EXPECT_EQ(content_of(folder / "jsonl"), R"({"file":"one","labels":["a","c"],"outputs":{"p":[0.25,0.1,0.9]}}
{"file":"two","labels":[],"outputs":{"p":[0.0,0.0,0.0]}}
)");
}

TEST(PredictionWriter, gives_the_path_of_a_picture) {
  const TemporaryFolder folder;
  const std::vector<WrittenOutput> outputs = {{.name = "drawn", .is_picture = true}, {.name = "code"}};
  for (const char* format : {"csv", "jsonl"}) {
    const auto writer = make_prediction_writer({format, folder / format, outputs, {}, 1});
    writer->write({"a.png", {kScores, Tensor::of<float>({1}, {3})}, "", {"out/000-a.png", ""}});
    writer->finish();
  }
  EXPECT_EQ(content_of(folder / "csv"), "file,drawn,code,error\na.png,out/000-a.png,3,\n");
  EXPECT_EQ(content_of(folder / "jsonl"),
            "{\"file\":\"a.png\",\"outputs\":{\"drawn\":\"out/000-a.png\",\"code\":[3.0]}}\n");
}

TEST(PredictionWriter, writes_one_json_object_a_line) {
  const TemporaryFolder folder;
  const auto writer = make_prediction_writer({"jsonl", folder / "out", kProbabilities, {"a", "b", "c"}, 1});
  writer->write({"one.png", {kScores}, ""});
  writer->finish();
  const auto line = nlohmann::json::parse(content_of(folder / "out"));
  EXPECT_EQ(line.at("label"), "b");
  EXPECT_EQ(line.at("outputs").at("p").size(), 3U);
  EXPECT_FALSE(line.contains("top"));
}

TEST(PredictionWriter, writes_no_more_digits_than_single_precision_has) {
  const TemporaryFolder folder;
  const auto writer = make_prediction_writer({"jsonl", folder / "out", kProbabilities, {"a", "b"}, 1});
  writer->write({"one.png", {Tensor::of<float>({2}, {0.9971405F, 5.4977022e-08F})}, ""});
  writer->finish();
  EXPECT_EQ(content_of(folder / "out"),
            R"({"file":"one.png","label":"a","score":0.9971405,"outputs":{"p":[0.9971405,5.4977022e-08]}})"
            "\n");
}

TEST(PredictionWriter, leaves_the_old_file_until_the_new_one_is_whole) {
  for (const char* format : {"jsonl", "csv", "hdf5"}) {
    const TemporaryFolder folder;
    write_content(folder / "out", "old");
    make_prediction_writer({format, folder / "out", kProbabilities, {"a", "b", "c"}, 1})
        ->write({"one.png", {kScores}, ""});
    EXPECT_EQ(content_of(folder / "out"), "old") << format;
    EXPECT_EQ(folder.names(), std::vector<std::string>{"out"}) << format;
    const auto writer = make_prediction_writer({format, folder / "out", kProbabilities, {"a", "b", "c"}, 1});
    writer->write({"one.png", {kScores}, ""});
    writer->finish();
    EXPECT_NE(content_of(folder / "out"), "old") << format;
    EXPECT_EQ(folder.names(), std::vector<std::string>{"out"}) << format;
  }
}

TEST(PredictionWriter, rejects_outputs_that_cannot_be_written) {
  EXPECT_THROW(make_prediction_writer({"csv", "/no/such/folder/x.csv", {}, {}, 1}), ResourceError);
  EXPECT_THROW(make_prediction_writer({"hdf5", "", {}, {}, 1}), ConfigError);
}

}  // namespace
}  // namespace tpack
