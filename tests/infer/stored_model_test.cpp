// Runs the program on a model that it trained: eval, infer, ckpt.
#include <filesystem>

#include <gmock/gmock-matchers.h>
#include <nlohmann/json.hpp>

#include "core/text.h"
#include "draw/png.h"
#include "learner/inference_model.h"
#include "support/program_runner.h"

namespace tpack {
namespace {

using nlohmann::json;
using testing_cli::kTinyConfig;
using testing_cli::last_line;
using testing_cli::Outcome;
using testing_cli::Process;
using testing_cli::tpack;

/// One model trained for all tests, and three images: good, broken, too large.
class Stored : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    write_content(*folder_ / "tiny.yaml", kTinyConfig);
    const Outcome outcome = tpack({"train", *folder_ / "tiny.yaml", "--log-dir", *folder_ / "run"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    write_content(*folder_ / "a good.png", encode_png(image(4)).at(0).png);
    write_content(*folder_ / "b broken.png", "no image");
    write_content(*folder_ / "c large.png", encode_png(image(9)).at(0).png);
    write_content(*folder_ / "labels.txt", "none\r\none\r\ntwo\r\n");
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static Tensor image(int64_t side) {
    Tensor pixels = Tensor::zeros({DType::kUInt8, {side, side, 1}});
    pixels.data<uint8_t>()[1] = 200;
    return pixels;
  }
  static std::string model() { return *folder_ / "run/checkpoints/model-20.h5"; }
  static std::string good() { return *folder_ / "a good.png"; }
  static std::string broken() { return *folder_ / "b broken.png"; }

  static inline std::unique_ptr<TemporaryFolder> folder_;
};

TEST_F(Stored, eval_gives_what_training_gave) {
  const Outcome outcome = tpack({"eval", model(), "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json stats = json::parse(content_of(*folder_ / "run/stats.json"));
  EXPECT_NEAR(json::parse(outcome.out).at("accuracy"), stats.back().at("validation_accuracy"), 1e-6);
  EXPECT_NEAR(json::parse(outcome.out).at("cost"), stats.back().at("validation_cost"), 1e-5);
}

TEST_F(Stored, eval_has_gates) {
  EXPECT_EQ(tpack({"eval", model(), "--min", "accuracy=0"}).code, 0);
  EXPECT_EQ(tpack({"eval", model(), "--min", "accuracy=1.5"}).code, 8);
  EXPECT_EQ(tpack({"eval", model(), "--min", "acuracy=0"}).code, 2);
  EXPECT_EQ(tpack({"eval", model(), "--max", "cost=1000"}).code, 0);
  EXPECT_EQ(tpack({"eval", model(), "--max", "cost=1.0e-9"}).code, 8);
  EXPECT_EQ(tpack({"eval", model(), "--min", "best accuracy=0"}).code, 2);
  const testing_cli::Outcome wrong = tpack({"eval", model(), "--min", "cost=1"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("--min cost=1: lower values of 'cost' are better; use --max"), std::string::npos)
      << wrong.err;
  EXPECT_EQ(tpack({"eval", model(), "--data", "test"}).code, 2);
}

TEST_F(Stored, infer_names_the_class_of_each_file) {
  const Outcome outcome =
      tpack({"infer", model(), good(), good(), "--labels", *folder_ / "labels.txt", "--top-k", "3"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto lines = split(outcome.out, '\n');
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], lines[1]);
  const json line = json::parse(lines[0]);
  EXPECT_EQ(line.at("file"), good());
  EXPECT_EQ(line.at("label"), line.at("top")[0].at("label"));
  EXPECT_EQ(line.at("top").size(), 3U);
  std::vector<std::string> labels;
  for (const auto& one : line.at("top")) labels.push_back(one.at("label"));
  std::sort(labels.begin(), labels.end());
  EXPECT_EQ(labels, (std::vector<std::string>{"none", "one", "two"}));
  double sum = 0;
  for (const auto& score : line.at("outputs").at("probability")) sum += score.get<double>();
  EXPECT_NEAR(sum, 1, 1e-5);
}

TEST_F(Stored, infer_reports_bad_files_in_place) {
  const Outcome outcome = tpack({"infer", model(), broken(), good(), "--format", "csv"});
  EXPECT_EQ(outcome.code, 3);
  const auto lines = split(outcome.out, '\n');
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0], "file,label,score,error");
  EXPECT_TRUE(lines[1].starts_with(broken() + ",,,")) << lines[1];
  EXPECT_TRUE(lines[2].starts_with(good() + ",")) << lines[2];
  EXPECT_EQ(last_line(outcome.err),
            "error: 1 of 2 files have no result (see above); with --skip-bad this is not an error");
  EXPECT_EQ(tpack({"infer", model(), broken(), good(), "--skip-bad"}).code, 0);
}

TEST_F(Stored, infer_says_which_size_the_model_takes) {
  const Outcome outcome = tpack({"infer", model(), *folder_ / "c large.png"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_NE(outcome.err.find("uint8 [9, 9, 1], but the model takes uint8 [4, 4, 1]"), std::string::npos);
  const std::string flow =
      "data.validation=[{FakeData: {shapes: [[4, 4, 1], []], dtype: [uint8, int32], names: [image, "
      "label]}}, {AugmentImageComponent: [{Resize: 4}]}, {BatchData: {batch_size: 4}}]";
  EXPECT_EQ(tpack({"infer", model(), *folder_ / "c large.png", "--set", flow}).code, 0);
}

TEST_F(Stored, infer_rejects_a_flow_that_no_file_can_fit_before_it_reads_any) {
  const auto rejected = [&](const std::string& flow) {
    const Outcome outcome =
        tpack({"infer", model(), good(), "--skip-bad", "--set", "data.validation=" + flow});
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  };
  const std::string source =
      "[{FakeData: {shapes: [[4, 4, 1], []], dtype: [uint8, int32], names: [image, label]}}, ";
  EXPECT_NE(rejected(source + "{AugmentImageComponent: [{Resize: 5}]}, {BatchData: {batch_size: 4}}]")
                .find("uint8 [5, 5, 1], but the model takes uint8 [4, 4, 1]"),
            std::string::npos);
  EXPECT_NE(rejected("[{FakeData: {shapes: [[4]], names: [other]}}, {BatchData: {batch_size: 4}}]")
                .find("infer reads images, but the source of flow 'validation' has none"),
            std::string::npos);
}

TEST_F(Stored, infer_reads_folders_and_lists) {
  write_content(*folder_ / "list.txt", good() + "\n" + good() + "\n");
  EXPECT_EQ(split(tpack({"infer", model(), "@" + (*folder_ / "list.txt")}).out, '\n').size(), 3U);
  const Outcome outcome = tpack({"infer", model(), folder_->str(), "--skip-bad"});
  EXPECT_EQ(split(outcome.out, '\n').size(), 4U);
  EXPECT_EQ(tpack({"infer", model(), "@" + (*folder_ / "none.txt")}).code, 3);
  EXPECT_EQ(tpack({"infer", model(), "@" + folder_->str()}).code, 3);
  write_content(*folder_ / "list.txt", "\n");
  EXPECT_EQ(last_line(tpack({"infer", model(), "@" + (*folder_ / "list.txt")}).err),
            "error: no input files; name images, folders, @LIST, or - for a list on standard input");
}

TEST_F(Stored, infer_reads_lists_with_nul_and_with_a_byte_order_mark) {
  const std::string list = *folder_ / "list0.txt";
  write_content(list, good() + '\0' + good() + '\0' + good() + '\0');
  EXPECT_EQ(split(tpack({"infer", model(), "@" + list}).out, '\n').size(), 4U);
  write_content(list, "\xEF\xBB\xBF" + good() + "\r\n");
  EXPECT_EQ(tpack({"infer", model(), "@" + list}).code, 0);
}

TEST_F(Stored, infer_writes_names_that_are_no_text) {
  const std::string odd = *folder_ / "b\xE9.png";
  std::filesystem::copy(good(), odd);
  const Outcome outcome = tpack({"infer", model(), odd});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(json::parse(outcome.out).at("file").get<std::string>().ends_with("b\\xE9.png")) << outcome.out;
  std::filesystem::remove(odd);
}

TEST_F(Stored, infer_writes_through_links) {
  write_content(*folder_ / "real.csv", "old");
  std::filesystem::create_symlink("real.csv", *folder_ / "link.csv");
  EXPECT_EQ(tpack({"infer", model(), good(), "--format", "csv", "--output", *folder_ / "link.csv"}).code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(*folder_ / "link.csv"));
  EXPECT_NE(content_of(*folder_ / "real.csv"), "old");
}

TEST_F(Stored, infer_counts_a_dangling_link_as_a_bad_file) {
  const std::string images = *folder_ / "linked";
  std::filesystem::create_directory(images);
  std::filesystem::copy(good(), images + "/a.png");
  std::filesystem::create_symlink("/no/such/x.png", images + "/x.png");
  const Outcome outcome = tpack({"infer", model(), images});
  EXPECT_EQ(outcome.code, 3);
  const auto lines = split(outcome.out, '\n');
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(json::parse(lines[1]).at("file"), images + "/x.png");
  EXPECT_EQ(last_line(outcome.err),
            "error: 1 of 2 files have no result (see above); with --skip-bad this is not an error");
}

TEST_F(Stored, infer_reads_a_list_on_standard_input) {
  write_content(*folder_ / "list.txt", good() + "\n\n" + good() + "\n");
  const std::string command =
      testing_cli::program() + " infer " + model() + " - <'" + (*folder_ / "list.txt") + "'";
  Process process({"sh", "-c", command}, *folder_ / "out.txt");
  ASSERT_EQ(process.wait(), 0) << process.err();
  const std::vector<std::string> lines = split(content_of(*folder_ / "out.txt"), '\n');
  ASSERT_EQ(lines.size(), 3U);
  for (int i : {0, 1}) EXPECT_EQ(json::parse(lines[static_cast<size_t>(i)]).at("file"), good());
}

TEST_F(Stored, scores_that_are_nan_are_no_result) {
  CheckpointContent content = load_checkpoint(model());
  content.tensors.at("model/fc/b").data<float>()[1] = std::numeric_limits<float>::quiet_NaN();
  const std::string spoiled = *folder_ / "nan.h5";
  save_checkpoint(spoiled, content);
  const Outcome inferred = tpack({"infer", spoiled, good(), "--format", "csv"});
  EXPECT_EQ(inferred.code, 3);
  EXPECT_EQ(inferred.out,
            "file,label,score,error\n" + good() + ",,," + good() + ": the output of the model is NaN\n");
  EXPECT_NE(inferred.err.find("error: " + good() + ": the output of the model is NaN\n"), std::string::npos)
      << inferred.err;
  const Outcome evaluated = tpack({"eval", spoiled});
  EXPECT_NE(evaluated.err.find("warning: cost of validation is nan\n"), std::string::npos) << evaluated.err;
}

TEST_F(Stored, infer_leaves_out_what_is_hidden) {
  for (const char* name :
       {"pictures/1.png", "pictures/__MACOSX/._1.png", "pictures/.thumbs/1.png", "pictures/._1.png"}) {
    const std::string path = *folder_ / name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::filesystem::copy_file(good(), path);
  }
  const Outcome outcome = tpack({"infer", model(), *folder_ / "pictures", "--format", "csv"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 2) << outcome.out;
}

TEST_F(Stored, infer_writes_the_format_of_the_file_that_it_is_told) {
  const auto written = [&](const std::string& file, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"infer", model(), good(), "--output", *folder_ / file};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = tpack(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return content_of(*folder_ / file);
  };
  EXPECT_THAT(written("a.csv"), testing::StartsWith("file,"));
  EXPECT_THAT(written("a.h5"), testing::HasSubstr("\x89HDF\r\n"));
  EXPECT_THAT(written("a.hdf5"), testing::HasSubstr("\x89HDF\r\n"));
  EXPECT_THAT(written("a.txt"), testing::StartsWith("{"));
  EXPECT_THAT(written("b.csv", {"--format", "jsonl"}), testing::StartsWith("{"));
}

TEST_F(Stored, infer_writes_hdf5) {
  const std::string path = *folder_ / "out.h5";
  ASSERT_EQ(
      tpack({"infer", model(), broken(), good(), "--format", "hdf5", "--output", path, "--skip-bad"}).code,
      0);
  const CheckpointContent content = load_checkpoint(path);
  EXPECT_EQ(content.tensors.at("probability").shape(), (Shape{2, 3}));
  EXPECT_TRUE(std::isnan(content.tensors.at("probability").at(0)));
  EXPECT_EQ(content.lists.at("files"), (std::vector{broken(), good()}));
  EXPECT_FALSE(content.lists.contains("labels")) << "the classes have no names";
  const std::vector<std::string>& errors = content.lists.at("errors");
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_TRUE(errors[0].starts_with(broken())) << errors[0];
  EXPECT_EQ(errors[1], "");
  const Outcome top = tpack({"infer", model(), good(), "--format", "hdf5", "--output", path, "--top-k", "2"});
  EXPECT_EQ(top.code, 2);
  EXPECT_NE(top.err.find("--top-k applies only to jsonl and csv"), std::string::npos) << top.err;
  EXPECT_EQ(tpack({"infer", model(), good(), "--format", "hdf5"}).code, 2);
  const Outcome beyond = tpack({"infer", model(), good(), "--format", "csv", "--top-k", "4"});
  EXPECT_EQ(beyond.code, 2);
  EXPECT_NE(beyond.err.find("--top-k 4: the model has 3 classes"), std::string::npos) << beyond.err;
  for (const char* name : {"files", "labels", "files/x"}) {
    const Outcome rejected =
        tpack({"infer", model(), good(), "--format", "hdf5", "--output", *folder_ / "no.h5", "--set",
               "predict.outputs={" + std::string(name) + ": {Softmax: fc}}"});
    EXPECT_EQ(rejected.code, 2) << rejected.err;
    EXPECT_NE(rejected.err.find("cannot hold output '" + std::string(name) + "'"), std::string::npos)
        << rejected.err;
  }
}

TEST_F(Stored, a_checkpoint_that_names_plugins_runs_no_code) {
  const Outcome outcome = tpack({"infer", model(), good(), "--set", "plugins=[/tmp/evil.so]"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("--allow-plugins"), std::string::npos);
}

TEST_F(Stored, ckpt_inspects_verifies_and_compares) {
  const json listing = json::parse(tpack({"ckpt", "inspect", model(), "--json"}).out);
  EXPECT_EQ(listing.at("step"), 20);
  EXPECT_EQ(tpack({"ckpt", "verify", model()}).out, model() + ": intact\n");
  EXPECT_EQ(tpack({"ckpt", "diff", model(), model()}).code, 0);
  const Outcome differ = tpack({"ckpt", "diff", model(), *folder_ / "run/checkpoints/model-10.h5"});
  EXPECT_EQ(differ.code, 1);
  EXPECT_NE(differ.out.find("model/fc/W"), std::string::npos);
  EXPECT_EQ(tpack({"ckpt", "verify", good()}).code, 4);
}

TEST_F(Stored, ckpt_strips_averages_and_signs) {
  const std::string stripped = *folder_ / "stripped.h5", mean = *folder_ / "mean.h5";
  EXPECT_EQ(tpack({"ckpt", "strip", model(), stripped}).code, 0);
  EXPECT_LT(std::filesystem::file_size(stripped), std::filesystem::file_size(model()));
  EXPECT_EQ(tpack({"infer", stripped, good()}).out, tpack({"infer", model(), good()}).out);
  const Outcome resumed =
      tpack({"train", *folder_ / "tiny.yaml", "--log-dir", *folder_ / "resumed", "--resume", stripped});
  EXPECT_EQ(resumed.code, 4) << resumed.err;
  EXPECT_THAT(resumed.err, testing::HasSubstr("stripped.h5"));
  EXPECT_EQ(tpack({"ckpt", "strip", model(), stripped}).code, 2) << "it exists";
  EXPECT_EQ(tpack({"ckpt", "average", model(), *folder_ / "run/checkpoints/model-10.h5", "--out", mean}).code,
            0);
  EXPECT_EQ(tpack({"infer", mean, good()}).code, 0);
  EXPECT_EQ(tpack({"ckpt", "diff", mean, stripped}).code, 1);
  EXPECT_EQ(tpack({"ckpt", "sign", model(), *folder_ / "signed.h5"}).code, 0);
  EXPECT_EQ(tpack({"ckpt", "diff", model(), *folder_ / "signed.h5"}).code, 0);
}

TEST_F(Stored, ckpt_compares_files_of_other_programs) {
  const std::string first = *folder_ / "a.safetensors", second = *folder_ / "b.npz",
                    other = *folder_ / "c.npz";
  EXPECT_EQ(tpack({"ckpt", "convert", model(), first}).code, 0);
  EXPECT_EQ(tpack({"ckpt", "convert", model(), second}).code, 0);
  EXPECT_EQ(tpack({"ckpt", "convert", *folder_ / "run/checkpoints/model-10.h5", other}).code, 0);
  const Outcome same = tpack({"ckpt", "diff", first, second});
  EXPECT_EQ(same.code, 0) << same.out << same.err;
  const Outcome differ = tpack({"ckpt", "diff", first, other});
  EXPECT_EQ(differ.code, 1);
  EXPECT_THAT(differ.out, testing::HasSubstr("largest difference"));
  EXPECT_EQ(tpack({"ckpt", "diff", model(), first}).code, 0) << "a checkpoint, and its tensors";
}

TEST_F(Stored, names_must_be_those_of_all_classes) {
  write_content(*folder_ / "two.txt", "none\none\n");
  const Outcome outcome = tpack({"infer", model(), good(), "--labels", *folder_ / "two.txt"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(last_line(outcome.err), "error: " + (*folder_ / "two.txt") +
                                        ": has 2 names, the model has 3 classes; write one name per line");
}

TEST_F(Stored, infer_never_overwrites_what_it_reads) {
  const std::string copy = *folder_ / "copy.png";
  std::filesystem::copy_file(good(), copy);
  const std::string other_path = *folder_ / "run/../copy.png";
  const std::vector<std::pair<std::string, std::vector<std::string>>> outputs = {
      {model(), {good()}},
      {copy, {copy}},
      {other_path, {good(), copy}},
      {*folder_ / "labels.txt", {good(), "--labels", *folder_ / "labels.txt"}}};
  for (const auto& [output, words] : outputs) {
    const std::string before = content_of(output);
    std::vector<std::string> all = {"infer", model(), "--output", output};
    all.insert(all.end(), words.begin(), words.end());
    const Outcome outcome = tpack(all);
    EXPECT_EQ(outcome.code, 2) << output;
    EXPECT_THAT(outcome.err, testing::HasSubstr("--output: " + output + " is read by this command"));
    EXPECT_EQ(content_of(output), before);
  }
  std::filesystem::create_directory(*folder_ / "pictures");
  std::filesystem::copy_file(good(), *folder_ / "pictures/p.png");
  write_content(*folder_ / "list.txt", copy + "\n");
  for (const auto& [output, word] : {std::pair(*folder_ / "pictures/p.png", *folder_ / "pictures"),
                                     {copy, "@" + (*folder_ / "list.txt")}}) {
    const std::string before = content_of(output);
    const Outcome outcome = tpack({"infer", model(), word, "--format", "jsonl", "--output", output});
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(content_of(output), before);
  }
  EXPECT_EQ(tpack({"infer", model(), good(), "--output", *folder_ / "out.jsonl"}).code, 0);
  EXPECT_EQ(tpack({"infer", model(), good(), "--output", *folder_ / "out.jsonl"}).code, 0)
      << "its own output may be written again";
}

}  // namespace
}  // namespace tpack
