// Runs `tpack eval` and `infer` on files that are not those of the config.
#include <cstring>
#include <filesystem>

#include <gmock/gmock-matchers.h>
#include <nlohmann/json.hpp>

#include "core/text.h"
#include "dataflow/test_databases.h"
#include "draw/png.h"
#include "infer/infer_runs.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing_cli::Outcome;

class EvalFiles : public InferRuns {
 protected:
  Outcome eval(std::vector<std::string> words) const {
    words.insert(words.begin(), {"eval", folder_ / "run/checkpoints/model-2.h5"});
    return testing_cli::tpack(words);
  }
  void write_shade(const std::string& name, uint8_t shade) {
    const std::string path = folder_ / name;
    fs::create_directories(fs::path(path).parent_path());
    const Tensor pixels = Tensor::of<uint8_t>({4, 4, 1}, std::vector<uint8_t>(16, shade));
    write_content(path, encode_png(pixels).at(0).png);
  }
  static constexpr const char* kOfShade =
      "model:\n  inputs: {image: {shape: [4, 4, 1], dtype: uint8, layout: HWC}, label: {shape: [], dtype: "
      "int32}}\n"
      "  layers: [{Normalize: {name: x, scale: 1.0}}, {GlobalAvgPooling: {name: mean}}, {FullyConnected: "
      "{name: fc, units: 2}}]\n"
      "  cost: [SoftmaxCrossEntropy: {logits: fc, labels: label}]\n"
      "  metrics: [Accuracy: {logits: fc, labels: label}]\n"
      "predict: {data: train, outputs: [mean]}\n";
};

TEST_F(EvalFiles, are_tables_like_that_of_the_training_which_may_be_gone) {
  write_content(folder_ / "train.csv", "x,late\n-2,no\n-1,yes\n1,no\n2,yes\n");
  train("{CSV: {file: train.csv, columns: {x: [x]}, labels: {late: late}}}",
        "model:\n  layers: [{Identity: {name: logit, input: x}}, {FullyConnected: {name: idle, units: 1}}]\n"
        "  cost: [{SigmoidCrossEntropy: {logits: logit, labels: late}}, {Regularize: {variables: idle/W, l2: "
        "0.1}}]\npredict: {data: train, outputs: {p: {Sigmoid: logit}}}\n");
  fs::remove(folder_ / "train.csv");
  write_content(folder_ / "new.csv", "late,x\nyes,3\nyes,-3\nyes,1\nno,-1\nyes,2\n");
  const Outcome outcome = eval({folder_ / "new.csv", "--json", "--min", "recall.yes=0.7", "--max", "cost=9"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result.at("reports").at(0).at("classes").at(1).at("recall"), 0.75) << "three of four";
  EXPECT_EQ(result.at("gates").at(0).dump(), R"({"gate":"recall.yes >= 0.7","holds":true,"value":0.75})");
  EXPECT_EQ(eval({folder_ / "new.csv", "--min", "recall.yes=0.8"}).code, 8);
  EXPECT_THAT(eval({folder_ / "new.csv", "--min", "recall.yesss=0.8"}).err,
              HasSubstr("did you mean 'recall.yes'?"));
  EXPECT_THAT(eval({folder_ / "new.csv"}).out, HasSubstr("statistic of " + (folder_ / "new.csv")));
  EXPECT_EQ(eval({folder_ / "new.csv", folder_ / "run/checkpoints/model-2.h5"}).code, 0)
      << "compares the two";
  EXPECT_THAT(eval({folder_ / "new.csv", folder_ / "new.csv"}).err, HasSubstr("one file or folder"));
  EXPECT_THAT(eval({folder_ / "no.csv"}).err, HasSubstr("no such file"));
  write_content(folder_ / "bare.csv", "x\n3\n");
  const Outcome bare = eval({folder_ / "bare.csv"});
  EXPECT_EQ(bare.code, 2);
  EXPECT_THAT(bare.err, HasSubstr("unknown column 'late'"));
  EXPECT_THAT(bare.err, HasSubstr("use `tpack infer`"));
}

/// A logit of 3, -3, 1, -1, 2 is a probability of 0.95, 0.05, 0.73, 0.27, 0.88.
TEST_F(EvalFiles, may_have_another_threshold_and_rows_without_a_label) {
  write_content(folder_ / "train.csv", "x,late\n-2,no\n-1,yes\n1,no\n2,yes\n");
  train("{CSV: {file: train.csv, columns: {x: [x]}, labels: {late: late}}}",
        "model:\n  layers: [{Identity: {name: logit, input: x}}, {FullyConnected: {name: idle, units: 1}}]\n"
        "  cost: [{SigmoidCrossEntropy: {logits: logit, labels: late}}, {Regularize: {variables: idle/W, l2: "
        "0.1}}]\npredict: {data: train, outputs: {p: {Sigmoid: logit}}}\n");
  write_content(folder_ / "new.csv", "late,x\nyes,3\nyes,-3\nyes,1\n,5\nno,-1\nyes,2\n");
  const Outcome stopped = eval({folder_ / "new.csv"});
  EXPECT_EQ(stopped.code, 3);
  EXPECT_THAT(stopped.err, HasSubstr("new.csv:5"));
  EXPECT_THAT(stopped.err, HasSubstr("--on-error skip"));
  const auto counts = [&](const std::string& threshold) {
    const Outcome outcome =
        eval({folder_ / "new.csv", "--on-error", "skip", "--json", "--threshold", threshold, "--worst", "5"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("1 bad sample"));
    const json result = json::parse(outcome.out);
    int worst = 0;
    for (const json& one : result.at("worst")) worst += one.at("predicted") == "yes" ? 1 : 0;
    EXPECT_EQ(result.at("reports").at(0).at("samples"), 5);
    return std::pair(result.at("reports").at(0).at("confusion").dump(), worst);
  };
  EXPECT_EQ(counts("0.5"), std::pair(std::string("[[1.0,0.0],[1.0,3.0]]"), 3));
  EXPECT_EQ(counts("0.2"), std::pair(std::string("[[0.0,1.0],[1.0,3.0]]"), 4));
  EXPECT_EQ(counts("0.8"), std::pair(std::string("[[1.0,0.0],[2.0,2.0]]"), 2));
  EXPECT_EQ(
      eval({folder_ / "new.csv", "--on-error", "skip", "--threshold", "0.8", "--min", "recall.yes=0.6"}).code,
      8);
}

TEST_F(EvalFiles, of_numbers_have_no_threshold) {
  write_content(folder_ / "train.csv", "x,y\n1,2\n2,4\n3,6\n4,8\n");
  train(
      "{CSV: {file: train.csv, columns: {x: [x], y: y}}}",
      "model:\n  layers: [FullyConnected: {name: out, units: 1, input: x}]\n"
      "  cost: [MeanSquaredError: {predictions: out, targets: y}]\npredict: {data: train, outputs: [out]}\n");
  const Outcome outcome = eval({"--data", "train", "--threshold", "0.3"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--threshold: no term of the cost has two classes"));
}

/// Values of a parabola at the days that a row is of.
TEST_F(EvalFiles, of_windows_name_the_row_that_is_predicted) {
  write_content(folder_ / "train.csv",
                "shop,date,y\na,2024-01-05,5\na,2024-01-04,4\na,2024-01-03,3\nb,2024-01-07,"
                "17\nb,2024-01-06,16\nb,2024-01-05,15\na,2024-01-02,2\n");
  train(
      "{Windows: {source: {CSV: {file: train.csv, columns: {x: [y], y: y}}}, length: 2, targets: [y], key: "
      "shop, order: date}}",
      "model:\n  layers: [FullyConnected: {name: out, units: 1, input: x}]\n"
      "  cost: [MeanSquaredError: {predictions: out, targets: y}]\npredict: {data: train, outputs: [out]}\n");
  const Outcome known = infer({folder_ / "train.csv", "--columns", "shop,date,index,true"});
  ASSERT_EQ(known.code, 0) << known.err;
  EXPECT_EQ(known.out, "shop,date,index,true\na,2024-01-05,0,5\na,2024-01-04,1,4\nb,2024-01-07,3,17\n");
  const Outcome next = infer({folder_ / "train.csv", "--columns", "shop,date,index,file"});
  ASSERT_EQ(next.code, 0) << next.err;
  const std::string file = folder_ / "train.csv";
  EXPECT_EQ(next.out, "shop,date,index,file\na,,7," + file + ":2 + 1\na,2024-01-05,0," + file +
                          ":2\na,2024-01-04,1," + file + ":3\nb,,7," + file + ":5 + 1\nb,2024-01-07,3," +
                          file + ":5\n");
}

TEST_F(EvalFiles, are_folders_and_lists_of_images) {
  for (int i = 0; i < 2; ++i) {
    write_shade("photos/dark/" + std::to_string(i) + ".png", static_cast<uint8_t>(10 + i));
    write_shade("photos/light/" + std::to_string(i) + ".png", static_cast<uint8_t>(200 + i));
    write_shade("more/light/" + std::to_string(i) + ".png", static_cast<uint8_t>(220 + i));
    write_shade("more/dark/" + std::to_string(i) + ".png", static_cast<uint8_t>(20 + i));
  }
  train("{ImageFolder: {dir: photos, color: gray}}, {AugmentImageComponent: [{Resize: 4}]}", kOfShade);
  const Outcome outcome = eval({folder_ / "more", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out).at("reports").at(0).at("classes").at(1).at("class"), "light");
  fs::create_directories(folder_ / "none");
  EXPECT_THAT(eval({folder_ / "none"}).err, HasSubstr("tpack infer"));
}

/// The mean of the pixels says which image it was.
TEST_F(EvalFiles, are_lists_and_tables_that_infer_reads_as_the_source_does) {
  for (int i = 0; i < 4; ++i) write_shade("p/" + std::to_string(i) + " x.png", static_cast<uint8_t>(50 * i));
  write_content(folder_ / "train.txt", "p/0 x.png dark\np/1 x.png dark\np/2 x.png light\np/3 x.png light\n");
  train("{ImageList: {file: train.txt, color: gray}}, {AugmentImageComponent: [{Resize: 4}]}", kOfShade);
  const auto answers = [&](const std::string& list) {
    const Outcome outcome = infer({folder_ / list, "--format", "csv", "--columns", "file,mean"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  };
  const std::string expected =
      "file,mean\n" + (folder_ / "p/3 x.png") + ",150\n" + (folder_ / "p/1 x.png") + ",50\n";
  write_content(folder_ / "new.txt", "p/3 x.png\np/1 x.png\n");
  EXPECT_EQ(answers("new.txt"), expected) << "no class is needed";
  write_content(folder_ / "labelled.txt", "p/3 x.png light\np/1 x.png dark\n");
  EXPECT_EQ(answers("labelled.txt"), expected);
  EXPECT_EQ(eval({folder_ / "labelled.txt"}).code, 0);
  EXPECT_THAT(eval({folder_ / "new.txt"}).err, HasSubstr("tpack infer"));
}

TEST_F(EvalFiles, are_tables_of_images_whose_columns_can_be_written) {
  for (int i = 0; i < 3; ++i) write_shade("p/" + std::to_string(i) + ".png", static_cast<uint8_t>(50 * i));
  write_content(folder_ / "train.csv", "photo,label\np/0.png,dark\np/1.png,dark\np/2.png,light\n");
  train(
      "{ImageList: {file: train.csv, path: photo, labels: {label: label}, color: gray}}, "
      "{AugmentImageComponent: [{Resize: 4}]}",
      kOfShade);
  write_content(folder_ / "new.csv", "id,photo\na7,p/2.png\na9,p/1.png\n");
  const Outcome outcome = infer({folder_ / "new.csv", "--columns", "id,mean"});
  EXPECT_EQ(outcome.out, "id,mean\na7,100\na9,50\n") << outcome.err;
  write_content(folder_ / "true.csv", "id,photo,label\na7,p/2.png,light\n");
  EXPECT_EQ(infer({folder_ / "true.csv", "--columns", "id,true"}).out, "id,true\na7,light\n");
}

}  // namespace
}  // namespace tpack
