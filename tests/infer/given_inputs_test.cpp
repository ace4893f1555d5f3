// Runs `tpack infer` with --input and --count, and on tables for models that also take pictures.
#include "infer/given_inputs.h"

#include <nlohmann/json.hpp>

#include "core/text.h"
#include "dataflow/test_databases.h"
#include "infer/infer_runs.h"

namespace tpack {
namespace {

using nlohmann::json;
using testing_cli::Outcome;

class GivenInputs : public InferRuns {};

/// A generator of one number from a class and noise; its model takes a picture, too, which that does not
/// need.
TEST_F(GivenInputs, gives_samples_without_files_for_inputs_that_are_given) {
  write_content(folder_ / "train.csv", "x,y\n1,low\n2,high\n3,low\n4,high\n");
  train("{CSV: {file: train.csv, columns: {x: x}, labels: {y: y}}}",
        "model:\n  inputs: {x: {shape: []}, y: {shape: [], dtype: int32}}\n"
        "  layers:\n"
        "    - Embedding: {name: of_class, input: y, entries: 2, units: 1}\n"
        "    - RandomNormal: {name: noise, input: x, shape: [1]}\n"
        "    - Elementwise: {name: made, expression: 100 * x + 0 * of_class}\n"
        "    - Elementwise: {name: twice, input: of_class, expression: 2 * x}\n"
        "    - Reshape: {name: flat, input: twice, shape: []}\n"
        "  cost: [MeanSquaredError: {predictions: flat, targets: x}]\n"
        "predict: {data: train, outputs: [twice]}\n");
  const auto outputs = [&](std::vector<std::string> words) {
    const Outcome outcome = infer(std::move(words));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    std::vector<json> lines;
    for (const std::string& line : split(outcome.out, '\n'))
      if (!line.empty()) lines.push_back(json::parse(line));
    return lines;
  };
  const auto low = outputs({"--count", "3", "--input", "y=1"});
  ASSERT_EQ(low.size(), 3U);
  EXPECT_EQ(low[2].at("file"), "sample 2");
  EXPECT_EQ(low[0].at("outputs"), low[2].at("outputs"));
  EXPECT_EQ(outputs({"--count", "1", "--input", "y=low"})[0].at("outputs"), low[0].at("outputs"));
  EXPECT_NE(outputs({"--count", "1", "--input", "y=high"})[0].at("outputs"), low[0].at("outputs"));
  const auto noise = outputs({"--count", "2", "--batch", "1", "--set", "predict.outputs=[noise]"});
  EXPECT_NE(noise[0].at("outputs"), noise[1].at("outputs"));
  write_content(folder_ / "classes.csv", "y\nlow\nhigh\n");
  EXPECT_EQ(outputs({folder_ / "classes.csv"})[0].at("outputs"), low[0].at("outputs")) << "as the file says";
  const Outcome lacking = infer({"--count", "3"});
  EXPECT_EQ(lacking.code, 2);
  EXPECT_NE(lacking.err.find("the outputs depend on y; set it with --input y=VALUE"), std::string::npos)
      << lacking.err;
  EXPECT_NE(infer({"--count", "3", "--input", "why=1"}).err.find("has no input 'why'"), std::string::npos);
  EXPECT_EQ(infer({"--count", "3", "--input", "y=2"}).code, 2) << "of two classes";
  EXPECT_NE(infer({"--count", "3", "--input", "y=lo"}).err.find("did you mean 'low'?"), std::string::npos);
  EXPECT_EQ(infer({}).code, 2);
  EXPECT_EQ(infer({"--count", "3", folder_ / "classes.csv"}).code, 2);
}

/// Values on the command line are sorted by name, and come after those of the file.
TEST_F(GivenInputs, go_to_the_inputs_of_their_names) {
  write_content(folder_ / "train.csv", "z,k,b\n1,2,3\n4,5,6\n7,8,9\n1,1,1\n");
  train("{CSV: {file: train.csv, columns: {z: z, k: k, b: b}}}",
        "model:\n  inputs: {z: {shape: []}, k: {shape: []}, b: {shape: []}}\n"
        "  layers:\n"
        "    - Variable: {name: w, shape: []}\n"
        "    - Elementwise: {name: o, input: z, expression: x - 100 * k - 10000 * b + 0 * w}\n"
        "  cost: [MeanSquaredError: {predictions: o, targets: z}]\n"
        "predict: {data: train, outputs: [o]}\n");
  const auto output = [&](std::vector<std::string> words) {
    const Outcome outcome = infer(std::move(words));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return json::parse(outcome.out).at("outputs").at("o").get<double>();
  };
  EXPECT_EQ(output({"--count", "1", "--input", "z=3", "--input", "k=7", "--input", "b=1"}), 3 - 700 - 10000);
  write_content(folder_ / "one.csv", "z,b\n3,1\n");
  EXPECT_EQ(output({folder_ / "one.csv", "--input", "k=7"}), 3 - 700 - 10000);
}

TEST_F(GivenInputs, take_a_class_by_its_name_where_names_are_numbers) {
  write_content(folder_ / "train.csv", "x,y\n1,1\n2,2\n3,10\n4,1\n");
  train("{CSV: {file: train.csv, columns: {x: x}, labels: {y: y}}}",
        "model:\n  inputs: {x: {shape: []}, y: {shape: [], dtype: int32}}\n"
        "  layers:\n"
        "    - OneHot: {name: hot, input: y, classes: 3}\n"
        "    - FullyConnected: {name: fc, units: 1}\n"
        "    - Reshape: {name: flat, shape: []}\n"
        "  cost: [MeanSquaredError: {predictions: flat, targets: x}]\n"
        "predict: {data: train, outputs: [hot]}\n");
  const auto hot = [&](const std::string& value) {
    return json::parse(infer({"--count", "1", "--input", "y=" + value}).out).at("outputs").at("hot");
  };
  EXPECT_EQ(hot("1"), json({1.0, 0.0, 0.0}));
  EXPECT_EQ(hot("2"), json({0.0, 1.0, 0.0}));
  EXPECT_EQ(hot("10"), json({0.0, 0.0, 1.0}));
  const Outcome none = infer({"--count", "1", "--input", "y=0"});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("y=0: is not a class of data.train"), std::string::npos) << none.err;
}

/// Although the model takes a picture, too.
TEST_F(GivenInputs, reads_the_inputs_that_the_outputs_need_from_a_table) {
  const std::vector<uint8_t> arrays =
      zip_file({{"image.npy", npy_file("|u1", "(2, 2, 2, 1)", {1, 2, 3, 4, 5, 6, 7, 8})},
                {"label.npy", npy_file("<i4", "(2,)", {0, 0, 0, 0, 1, 0, 0, 0})}});
  write_content(folder_ / "train.npz", std::string(arrays.begin(), arrays.end()));
  train("{Npz: train.npz}",
        "model:\n  inputs: {image: {shape: [2, 2, 1], dtype: uint8}, label: {shape: [], dtype: int32}}\n"
        "  layers:\n"
        "    - Normalize: {input: image}\n"
        "    - FullyConnected: {name: fc, units: 2}\n"
        "    - OneHot: {name: hot, input: label, classes: 2}\n"
        "  cost: [MeanSquaredError: {predictions: fc, targets: hot}]\n"
        "predict: {data: train, outputs: [hot]}\n");
  const Outcome outcome = infer({folder_ / "train.npz"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(json::parse(split(outcome.out, '\n').at(1)).at("outputs").at("hot"), json({0.0, 1.0}));
}

}  // namespace
}  // namespace tpack
