// Runs `tpack infer` on models for tables and sets of labels. stored_model_test.cpp has classes of images,
// infer_files_pictures_test.cpp outputs that are pictures.
#include "infer/infer_files.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

#include <gmock/gmock-matchers.h>
#include <nlohmann/json.hpp>

#include "core/text.h"
#include "dataflow/datapoint.h"
#include "dataflow/test_databases.h"
#include "dataflow/test_images.h"
#include "draw/png.h"
#include "infer/infer_runs.h"
#include "support/program_runner.h"

namespace tpack {
namespace {

using nlohmann::json;
using testing_cli::last_line;
using testing_cli::Outcome;
using testing_cli::tpack;

class Infer : public InferRuns {
 protected:
  void train_tags() {
    write_content(folder_ / "train.csv", "u,v,red,round\n1,2,0,1\n3,4,1,1\n5,6,0,0\n7,8,1,0\n");
    train("{CSV: {file: train.csv, columns: {x: [u, v]}, labels: {tags: [red, round]}}}",
          "model:\n  inputs: {x: {shape: [2]}, tags: {shape: [2]}}\n"
          "  layers: [FullyConnected: {name: fc, input: x, units: 2}]\n"
          "  cost: [SigmoidCrossEntropy: {logits: fc, labels: tags}]\n"
          "predict: {data: train, outputs: {p: {Sigmoid: fc}, raw: fc}}\n");
  }
};

/// Whatever the flow that predict names does at random in training.
TEST_F(Infer, gives_a_file_one_answer_wherever_it_stands) {
  std::vector<std::string> files;
  for (int i = 0; i < 5; ++i) {
    Tensor pixels = Tensor::zeros({DType::kUInt8, {9, 9, 1}});
    for (int64_t at = 0; at < 81; ++at)
      pixels.data<uint8_t>()[at] = static_cast<uint8_t>((at * 37 + i * 11) % 251);
    files.push_back(folder_ /
                    ("images/" + std::string(i % 2 == 0 ? "a/" : "b/") + std::to_string(i) + ".png"));
    std::filesystem::create_directories(std::filesystem::path(files.back()).parent_path());
    write_content(files.back(), encode_png(pixels).at(0).png);
  }
  train(
      "{ImageFolder: {dir: images, color: gray}}, {AugmentImageComponent: [{RandomCrop: 6}, Flip, "
      "{Brightness: 60}, "
      "{GaussianNoise: {sigma: 20}}, {RandomApplyAug: {aug: {Contrast: [0.2, 1.8]}}}]}",
      "model:\n  inputs: {image: {shape: [6, 6, 1], dtype: uint8, layout: HWC}, label: {shape: [], dtype: "
      "int32}}\n"
      "  layers: [Normalize: {scale: 0.01}, FullyConnected: {name: fc, units: 2}]\n"
      "  cost: [SoftmaxCrossEntropy: {logits: fc, labels: label}]\n"
      "predict: {data: train, outputs: {raw: fc}}\n");
  std::map<std::string, json> answers;
  for (const int batch : {1, 2, 64}) {
    for (int turn = 0; turn < 5; ++turn) {
      std::rotate(files.begin(), files.begin() + 1, files.end());
      std::vector<std::string> words = files;
      words.insert(words.end(), {"--batch", std::to_string(batch)});
      const Outcome outcome = infer(words);
      ASSERT_EQ(outcome.code, 0) << outcome.err;
      for (const std::string& line : split(outcome.out, '\n')) {
        if (line.empty()) continue;
        const json answer = json::parse(line);
        const auto known = answers.emplace(answer.at("file"), answer).first;
        // Products of other batch sizes may round the last bits differently.
        for (const size_t i : {size_t{0}, size_t{1}}) {
          EXPECT_NEAR(answer.at("outputs").at("raw").at(i), known->second.at("outputs").at("raw").at(i),
                      1e-5);
        }
      }
    }
  }
  EXPECT_EQ(answers.size(), 5U);
}

/// The middle of each picture, as it is, and as a flow without draws gives it.
TEST_F(Infer, draws_nothing_for_augmentors_that_draw) {
  Tensor pixels = Tensor::zeros({DType::kUInt8, {9, 9, 1}});
  for (int64_t at = 0; at < 81; ++at) pixels.data<uint8_t>()[at] = static_cast<uint8_t>(at * 37 % 251);
  for (const std::string name : {"a/0.png", "b/1.png"}) {
    std::filesystem::create_directories(std::filesystem::path(folder_ / ("images/" + name)).parent_path());
    write_content(folder_ / ("images/" + name), encode_png(pixels).at(0).png);
  }
  const auto answer = [&](const std::string& augmentors) {
    std::filesystem::remove_all(folder_ / "run");
    train(
        "{ImageFolder: {dir: images, color: gray}}, {AugmentImageComponent: [" + augmentors + "]}",
        "model:\n  inputs: {image: {shape: [6, 6, 1], dtype: uint8, layout: HWC}, label: {shape: [], dtype: "
        "int32}}\n"
        "  layers: [Normalize: {name: pixels}, FullyConnected: {name: fc, units: 2}]\n"
        "  cost: [SoftmaxCrossEntropy: {logits: fc, labels: label}]\n"
        "predict: {data: train, outputs: [pixels]}\n");
    return json::parse(infer({folder_ / "images/a/0.png"}).out).at("outputs");
  };
  const json still = answer("CenterCrop: 6");
  EXPECT_EQ(answer("{RandomCrop: 6}, {Brightness: 60}, {Contrast: [0.2, 0.3]}, {GaussianNoise: {sigma: 20}}, "
                   "{Flip: {prob: 0.5}}, {RandomApplyAug: {aug: {Brightness: 90}, prob: 0.5}}"),
            still);
  EXPECT_NE(answer("{CenterCrop: 6}, {Flip: {prob: 1}}"), still)
      << "a flip of each image is not a random one";
}

TEST_F(Infer, tells_twenty_errors_and_counts_the_others) {
  write_content(folder_ / "train.csv", "x,y\n1,low\n2,high\n3,low\n4,high\n");
  train("{CSV: {file: train.csv, columns: {x: x}, labels: {y: y}}}",
        "model:\n  inputs: {x: {shape: []}, y: {shape: [], dtype: int32}}\n"
        "  layers: [Reshape: {input: x, shape: [1]}, FullyConnected: {name: fc, units: 2}]\n"
        "  cost: [SoftmaxCrossEntropy: {logits: fc, labels: y}]\n"
        "predict: {data: train, outputs: [fc]}\n");
  std::string rows = "x\n";
  for (int i = 0; i < 23; ++i) rows += "none\n";
  write_content(folder_ / "bad.csv", rows + "1\n");
  const Outcome outcome = infer({folder_ / "bad.csv"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_NE(outcome.err.find("and 3 more; the output lists the error of each"), std::string::npos);
  EXPECT_EQ(outcome.err.find("on_error"), std::string::npos) << "infer has no such setting: " << outcome.err;
  const std::vector<std::string> lines = split(outcome.out, '\n');
  EXPECT_EQ(
      std::count_if(lines.begin(), lines.end(),
                    [](const std::string& line) { return line.find("\"error\"") != std::string::npos; }),
      23);
}

/// KMeans and PCA make models of their own; the data that they were trained on may be gone.
TEST_F(Infer, runs_the_model_that_a_trainer_has_made) {
  write_content(folder_ / "train.csv", "u,v\n0,0\n10,10\n0,1\n11,10\n");
  const auto run = [&](const std::string& trainer, const std::string& outputs) {
    write_content(
        folder_ / "a.yaml",
        "tpack: 1\nmax_epoch: 1\nsteps_per_epoch: 2\nengine: {threads: 1, algorithm: heuristic}\n"
        "data: {train: [{CSV: {file: train.csv, columns: {x: [u, v]}}}, {BatchData: {batch_size: 4}}]}\n"
        "trainer: {" +
            trainer +
            "}\ncallbacks: [ModelSaver]\n"
            "predict: {data: train, outputs: " +
            outputs + "}\n");
    return tpack({"train", folder_ / "a.yaml", "--log-dir", folder_ / "run", "--resume", "never"});
  };
  write_content(folder_ / "new.csv", "u,v\n1,1\n10,9\n");
  ASSERT_EQ(run("KMeans: {clusters: 2, component: x}", "[cluster, center]").code, 0);
  std::filesystem::rename(folder_ / "train.csv", folder_ / "gone.csv");
  Outcome outcome = infer({folder_ / "new.csv"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto lines = split(outcome.out, '\n');
  const json low = json::parse(lines.at(0)).at("outputs");
  const json high = json::parse(lines.at(1)).at("outputs");
  EXPECT_NE(low.at("cluster"), high.at("cluster"));
  EXPECT_EQ(low.at("center"), json({0.0, 0.5}));
  EXPECT_EQ(high.at("center"), json({10.5, 10.0}));

  std::filesystem::rename(folder_ / "gone.csv", folder_ / "train.csv");
  ASSERT_EQ(run("PCA: {components: 1, component: x}", "[reconstruction]").code, 0);
  outcome = infer({folder_ / "new.csv"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json drawn = json::parse(split(outcome.out, '\n').at(1)).at("outputs").at("reconstruction");
  EXPECT_NEAR(drawn[0].get<double>(), 9.72756, 1e-4);  // by NumPy: cov, eigh
  EXPECT_NEAR(drawn[1].get<double>(), 9.30112, 1e-4);
}

/// The rows of a CSV file without the columns of the targets, and names of labels from the columns.
TEST_F(Infer, reads_rows_and_names_the_labels_that_hold) {
  train_tags();
  write_content(folder_ / "new.csv", "v,u\n2,1\noops,3\n4,3\n");
  const Outcome outcome = infer({folder_ / "new.csv", "--skip-bad", "--threshold", "0"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto lines = split(outcome.out, '\n');
  ASSERT_EQ(lines.size(), 4U) << outcome.out;
  const json first = json::parse(lines[0]);
  EXPECT_EQ(first.at("file"), (folder_ / "new.csv") + ":2");
  EXPECT_EQ(first.at("labels"), json::array({"red", "round"}));
  EXPECT_FALSE(first.contains("label")) << "no classes that exclude each other";
  EXPECT_EQ(first.at("outputs").at("p").size(), 2U);
  EXPECT_NE(json::parse(lines[1]).at("error").get<std::string>().find("new.csv:3: column 'v' has 'oops'"),
            std::string::npos);
  const Outcome alone = infer({folder_ / "new.csv", "--skip-bad", "--batch", "1", "--threshold", "0"});
  EXPECT_EQ(alone.out, outcome.out);
  const Outcome none = infer({folder_ / "new.csv", "--skip-bad", "--threshold", "1", "--format", "csv"});
  EXPECT_TRUE(none.out.starts_with("file,labels,raw,error\n" + (folder_ / "new.csv") + ":2,,")) << none.out;
  const Outcome counted = infer({folder_ / "new.csv", folder_ / "none.csv"});
  EXPECT_EQ(counted.code, 3);
  EXPECT_EQ(last_line(counted.err),
            "error: 2 of 4 rows have no result (see above); with --skip-bad this is not an error");
}

TEST_F(Infer, gives_a_row_what_the_same_row_gave_in_training) {
  train_tags();
  const json all = json::parse(split(infer({folder_ / "train.csv"}).out, '\n')[1]);
  write_content(folder_ / "one.csv", "u,v\n3,4\n");
  const json one = json::parse(infer({folder_ / "one.csv"}).out);
  EXPECT_EQ(one.at("outputs"), all.at("outputs"));
  write_content(folder_ / "lacking.csv", "u,w\n3,4\n");
  const Outcome lacking = infer({folder_ / "lacking.csv"});
  EXPECT_EQ(lacking.code, 3);
  EXPECT_NE(lacking.err.find("lacks column 'v', which component 'x' of data.train uses"), std::string::npos)
      << lacking.err;
}

TEST_F(Infer, rejects_a_file_with_two_columns_of_a_name_that_the_model_needs) {
  train_tags();
  write_content(folder_ / "twice.csv", "u,v,u\n1,2,3\n");
  const Outcome twice = infer({folder_ / "twice.csv"});
  EXPECT_EQ(twice.code, 3);
  EXPECT_NE(twice.err.find((folder_ / "twice.csv") + " has 2 columns with the name 'u'; rename them"),
            std::string::npos)
      << twice.err;
  write_content(folder_ / "others.csv", "u,w,v,w\n1,8,2,9\n");
  write_content(folder_ / "plain.csv", "u,v\n1,2\n");
  const Outcome others = infer({folder_ / "others.csv"});
  ASSERT_EQ(others.code, 0) << others.err;
  EXPECT_EQ(json::parse(others.out).at("outputs"),
            json::parse(infer({folder_ / "plain.csv"}).out).at("outputs"));
}

/// The array of the component, by its name in the flow; whether the file has others does not matter.
TEST_F(Infer, gives_arrays_what_the_same_numbers_in_a_table_give) {
  train_tags();
  write_content(folder_ / "rows.csv", "u,v\n1,-2\n0.5,4\n");
  const Outcome rows = infer({folder_ / "rows.csv"});
  ASSERT_EQ(rows.code, 0) << rows.err;
  const auto npy = [](const std::string& shape, const std::vector<float>& numbers) {
    std::vector<uint8_t> bytes(numbers.size() * sizeof(float));
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
    return npy_file("<f4", shape, bytes);
  };
  const auto write = [&](const std::string& name, const std::vector<uint8_t>& bytes) {
    write_content(folder_ / name, {bytes.begin(), bytes.end()});
  };
  const std::vector<uint8_t> points = npy("(2, 2)", {1, -2, 0.5, 4});
  write("new.npz", zip_file({{"more.npy", npy("(3,)", {7, 8, 9})}, {"points.npy", points, true}}));
  write("new.npy", points);
  write("wide.npz", zip_file({{"points.npy", npy("(1, 3)", {1, 2, 3})}}));
  write("none.npz", zip_file({{"point.npy", points}}));
  const auto infer_arrays = [&](const std::string& file) {
    return infer({folder_ / file, "--set",
                  "data.train=[{Npz: {file: gone.npz, arrays: {x: points}}}, {BatchData: {batch_size: 2}}]"});
  };
  for (const char* file : {"new.npz", "new.npy"}) {
    const Outcome arrays = infer_arrays(file);
    ASSERT_EQ(arrays.code, 0) << arrays.err;
    for (size_t row = 0; row < 2; ++row) {
      const json of_array = json::parse(split(arrays.out, '\n').at(row));
      const json of_row = json::parse(split(rows.out, '\n').at(row));
      EXPECT_EQ(of_array.at("file"), (folder_ / file) + "[" + std::to_string(row) + "]");
      EXPECT_EQ(of_array.at("outputs"), of_row.at("outputs")) << file;
    }
  }
  const Outcome wide = infer_arrays("wide.npz");
  EXPECT_EQ(wide.code, 3);
  EXPECT_NE(wide.err.find("component 'x' is float32 [3], but the model takes float32 [2]"), std::string::npos)
      << wide.err;
  const Outcome none = infer_arrays("none.npz");
  EXPECT_EQ(none.code, 3);
  EXPECT_NE(none.err.find("unknown array 'points'; did you mean 'point'?"), std::string::npos) << none.err;
}

/// A column of class names may be an input, too.
TEST_F(Infer, names_the_classes_of_the_labels_that_the_cost_takes) {
  write_content(folder_ / "train.csv",
                "color,size,kind\nred,1,cheap\ngreen,9,dear\nblue,1,cheap\nred,9,dear\n");
  const std::string flow =
      "{CSV: {file: train.csv, columns: {x: [size]}, labels: {color: {column: color, classes: [red, green, "
      "blue]}, kind: kind}}}";
  const std::string model =
      "model:\n  inputs: {x: {shape: [1]}, color: {shape: [], dtype: int32}, kind: {shape: [], dtype: "
      "int32}}\n"
      "  layers:\n    - OneHot: {name: c, input: color, classes: 3}\n    - Concat: {name: all, input: [c, "
      "x]}\n"
      "    - FullyConnected: {name: fc, units: 2}\n"
      "  cost: [SoftmaxCrossEntropy: {logits: fc, labels: kind}]\n"
      "predict: {data: train, outputs: {p: {Softmax: fc}}}\n";
  train(flow, model);
  write_content(folder_ / "new.csv", "color,size\nblue,2\n");
  const Outcome outcome = infer({folder_ / "new.csv", "--top-k", "2"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  std::set<std::string> named;
  const json line = json::parse(outcome.out);
  for (const json& one : line.at("top")) named.insert(one.at("label"));
  EXPECT_EQ(named, (std::set<std::string>{"cheap", "dear"}));
  // As many names as another output has numbers are not its classes.
  write_content(folder_ / "names.txt", "a\nb\nc\nd\n");
  const Outcome other = infer({folder_ / "new.csv", "--labels", folder_ / "names.txt", "--set",
                               "predict.outputs={raw: all, p: {Softmax: fc}}"});
  EXPECT_EQ(other.code, 2) << other.out;
  EXPECT_NE(other.err.find("names.txt: has 4 names, the model has 2 classes"), std::string::npos)
      << other.err;
  // Classes that the config does not name are known once the file is read.
  const Outcome evaluated = tpack({"eval", folder_ / "run/checkpoints/model-2.h5"});
  EXPECT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_NE(evaluated.out.find("cost"), std::string::npos);
}

TEST_F(Infer, names_the_data_that_makes_a_figure_of_eval_nan) {
  const auto flow = [](const std::string& file) {
    return "{CSV: {file: " + file +
           ", columns: {x: [size], kind: kind}, shuffle: false}}, "
           "{MapData: {component: kind, map: {Cast: int32}}}";
  };
  write_content(folder_ / "train.csv", "size,kind\n1,0\n9,1\n2,0\n8,1\n");
  write_content(folder_ / "bad.csv", "size,kind\n1,0\n9,1\n2,0\n8,3\n");
  train(flow("train.csv"),
        "model:\n  inputs: {x: {shape: [1]}, kind: {shape: [], dtype: int32}}\n"
        "  layers: [FullyConnected: {name: fc, units: 2, input: x}]\n"
        "  cost: [SoftmaxCrossEntropy: {logits: fc, labels: kind}]\n"
        "predict: {data: train, outputs: [fc]}\n");
  const Outcome outcome =
      tpack({"eval", folder_ / "run/checkpoints/model-2.h5", "--set",
             "data.train=[" + flow(folder_ / "bad.csv") + ", {BatchData: {batch_size: 2}}]"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("warning: cost of train is nan: input 'kind' ("), std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("has 3 at [1] of batch 2, but there are 2 scores (cost/SoftmaxCrossEntropy); "
                             "component 'kind' of data.train must be from 0 to 1"),
            std::string::npos)
      << outcome.err;
}

/// The agent's model has inputs that observations alone do not give.
TEST_F(Infer, gives_the_values_of_an_agent_for_observations) {
  train(
      "{ExpReplay: {environment: CartPole, values: q, memory_size: 100, init_memory_size: 50, "
      "samples_per_step: 2}}",
      "input: Feed\n"
      "model:\n  inputs: {state: {shape: [4]}, action: {shape: [], dtype: int32}, reward: {shape: []}, "
      "is_over: {shape: []}, next_state: {shape: [4]}}\n"
      "  layers:\n    - FullyConnected: {name: q, units: 2, input: state}\n"
      "    - FullyConnected: {name: next_q, units: 2, input: next_state}\n"
      "    - TDError: {name: td, input: [q, action, reward, is_over, next_q], discount: 0.9}\n"
      "  cost: [Huber: {predictions: td, targets: 0}]\n");
  write_content(folder_ / "new.csv", "x,v,angle,turn\n0,0,0,0\n1,0,0.1,0\n");
  const Outcome outcome =
      infer({folder_ / "new.csv", "--set",
             "data.states=[{CSV: {file: " + folder_ / "new.csv" +
                 ", columns: {state: [x, v, angle, turn]}}}, {BatchData: {batch_size: 64}}]",
             "--set", "predict={data: states, outputs: [q]}"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::vector<std::string> lines = split(std::string(trim(outcome.out)), '\n');
  ASSERT_EQ(lines.size(), 2U) << outcome.out;
  const json first = json::parse(lines[0]).at("outputs").at("q");
  EXPECT_EQ(first.size(), 2U);
  EXPECT_NE(first, json::parse(lines[1]).at("outputs").at("q"));
}

/// As of a GAN: what it draws depends on no input.
TEST_F(Infer, gives_a_sample_of_a_generator_for_each_row) {
  write_content(folder_ / "train.csv", "size,kind\n1,cheap\n9,dear\n2,cheap\n8,dear\n");
  train("{CSV: {file: train.csv, columns: {x: [size]}, labels: {kind: kind}}}",
        "model:\n  inputs: {x: {shape: [1]}, kind: {shape: [], dtype: int32}}\n"
        "  layers:\n    - FullyConnected: {name: fc, units: 2}\n"
        "    - RandomNormal: {name: noise, shape: [3]}\n"
        "  cost: [SoftmaxCrossEntropy: {logits: fc, labels: kind}]\n"
        "predict: {data: train, outputs: [noise]}\n");
  write_content(folder_ / "new.csv", "size\n2\n3\n");
  const Outcome outcome = infer({folder_ / "new.csv"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::vector<std::string> lines = split(std::string(trim(outcome.out)), '\n');
  ASSERT_EQ(lines.size(), 2U) << outcome.out;
  EXPECT_EQ(json::parse(lines[1]).at("outputs").at("noise").size(), 3U) << lines[1];
}

/// Such a source knows what it has once its files are read, which infer does not need.
TEST_F(Infer, reads_images_for_a_model_of_a_database) {
  const auto shade = [](uint8_t value, int label) {
    return pixel_datum(3, 4, 4, std::vector<uint8_t>(48, value), label);
  };
  std::filesystem::create_directories(folder_ / "db");
  write_lmdb(folder_ / "db", {{"0", shade(10, 0)}, {"1", shade(200, 1)}});
  train("{CaffeLMDB: {path: db}}, {MapData: {component: image, map: Grayscale}}",
        "model:\n  inputs:\n    image: {shape: [4, 4, 1], dtype: uint8, layout: HWC}\n"
        "    label: {shape: [], dtype: int32}\n"
        "  layers: [{Normalize: {name: x, scale: 1.0}}, {GlobalAvgPooling: {name: mean}}, "
        "{FullyConnected: {name: fc, units: 2}}]\n"
        "  cost: [SoftmaxCrossEntropy: {logits: fc, labels: label}]\n"
        "predict: {data: train, outputs: [mean]}\n");
  const Tensor gray = Tensor::of<uint8_t>({4, 4, 1}, std::vector<uint8_t>(16, 77));
  write_content(folder_ / "a.png", encode_png(gray).at(0).png);
  const Outcome evaluated = tpack({"eval", folder_ / "run/checkpoints/model-2.h5", "--data", "train"});
  EXPECT_EQ(evaluated.code, 0) << evaluated.err;
  std::filesystem::remove_all(folder_ / "db");
  const Outcome outcome = infer({folder_ / "a.png"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out).at("outputs").at("mean"), json({77.0})) << outcome.out;
}

/// Of 16 bits, and on their side: row 0 of the file is the right column of the picture.
TEST_F(Infer, reads_pixels_as_training_does) {
  cv::Mat stored(2, 4, CV_16UC1);
  for (int i = 0; i < 8; ++i) stored.at<uint16_t>(i / 4, i % 4) = static_cast<uint16_t>(5 * i + 1);
  const std::vector<uint8_t> file = with_orientation(encode_deep_png(stored), 6, true);
  for (const char* name : {"a", "b"}) {
    const std::string folder = folder_ / "photos/" + name;
    std::filesystem::create_directories(folder);
    write_content(folder + "/1.png", std::string(file.begin(), file.end()));
  }
  write_content(folder_ / "photos.txt", "photos/a/1.png a\nphotos/b/1.png b\n");
  for (const std::string source : {"ImageFolder: {dir: photos", "ImageList: {file: photos.txt"}) {
    std::filesystem::remove_all(folder_ / "run");
    train("{" + source + ", color: gray, depth: 16}}, {AugmentImageComponent: [{CenterCrop: [4, 2]}]}",
          "model:\n  inputs:\n    image: {shape: [4, 2, 1], dtype: float32, layout: HWC}\n"
          "    label: {shape: [], dtype: int32}\n"
          "  layers: [{Normalize: {name: pixels, scale: 1.0}}, {FullyConnected: {name: fc, units: 2}}]\n"
          "  cost: [SoftmaxCrossEntropy: {logits: fc, labels: label}]\n"
          "predict: {data: train, outputs: [pixels]}\n");
    const Outcome outcome = infer({folder_ / "photos/a/1.png"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const json pixels = json::parse(outcome.out).at("outputs").at("pixels");
    EXPECT_EQ(pixels, json::parse("[[[21, 1], [26, 6], [31, 11], [36, 16]]]")) << source << pixels;
  }
}

TEST_F(Infer, rejects_options_that_fit_no_output) {
  train_tags();
  EXPECT_NE(infer({folder_ / "train.csv", "--top-k", "2"})
                .err.find("--top-k: no output of predict is probabilities of classes (from a Softmax); there "
                          "are p float32 [2], raw float32 [2]"),
            std::string::npos);
  EXPECT_NE(infer({folder_ / "train.csv", "--images", folder_ / "images"})
                .err.find("--images: no output of predict is an image"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "images"));
}

/// An output that is no probability is not ranked, unless the names of its classes are given.
TEST_F(Infer, writes_values_of_other_outputs) {
  train_tags();
  const Outcome outcome =
      infer({folder_ / "train.csv", "--format", "csv", "--set", "predict.outputs.p=!delete"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(outcome.out.starts_with("file,raw,error\n")) << outcome.out;
  write_content(folder_ / "names.txt", "left\nright\n");
  const Outcome ranked = infer({folder_ / "train.csv", "--format", "csv", "--labels", folder_ / "names.txt",
                                "--set", "predict.outputs.p=!delete"});
  EXPECT_TRUE(ranked.out.starts_with("file,label,score,error\n")) << ranked.out << ranked.err;
}

}  // namespace
}  // namespace tpack
