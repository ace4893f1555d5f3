// Runs the program: usage, and the commands that print information.
#include <nlohmann/json.hpp>

#include "draw/png.h"
#include "support/program_runner.h"

namespace tpack {
namespace {

using nlohmann::json;
using testing_cli::last_line;
using testing_cli::Outcome;
using testing_cli::tpack;

class Program : public testing_cli::WithTinyConfig {};

TEST_F(Program, help_goes_to_stdout) {
  const Outcome outcome = tpack({"--help"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.out.find("train"), std::string::npos);
  EXPECT_EQ(outcome.err, "");
}

TEST_F(Program, wrong_usage_is_exit_2_with_a_suggestion) {
  const Outcome outcome = tpack({"trian", "x.yaml"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "error: unknown command 'trian'; did you mean 'train'?; see tpack --help\n");
  EXPECT_EQ(tpack({}).code, 2);
  EXPECT_EQ(tpack({"train"}).code, 2);
  EXPECT_EQ(tpack({"train", config(), "--no-such-option"}).code, 2);
}

TEST_F(Program, help_of_an_unknown_command_is_exit_2) {
  const Outcome outcome = tpack({"trian", "--help"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "error: unknown command 'trian'; did you mean 'train'?; see tpack --help\n");
}

TEST_F(Program, an_unknown_option_is_exit_2_with_a_suggestion) {
  EXPECT_EQ(tpack({"train", config(), "--log_dir", "x"}).err,
            "error: unknown option '--log_dir' of tpack train; did you mean '--log-dir'?; see tpack train "
            "--help\n");
  EXPECT_EQ(tpack({"ckpt", "verify", config(), "--jsn"}).err,
            "error: unknown option '--jsn' of tpack ckpt verify; see tpack ckpt verify --help\n");
}

TEST_F(Program, options_of_the_program_may_follow_the_command) {
  const Outcome loud = tpack({"check", config()});
  EXPECT_NE(loud.err.find("is valid"), std::string::npos) << loud.err;
  const Outcome quiet = tpack({"check", config(), "--quiet"});
  EXPECT_EQ(quiet.code, 0) << quiet.err;
  EXPECT_EQ(quiet.err, "");
}

TEST_F(Program, a_checkpoint_where_a_config_is_expected_says_what_takes_it) {
  ASSERT_EQ(tpack({"train", config(), "--log-dir", folder_ / "run"}).code, 0);
  const std::string model = folder_ / "run/checkpoints/model-20.h5";
  const Outcome outcome = tpack({"train", model});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("model-20.h5: is a checkpoint, not a config"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("`tpack train CONFIG --resume FILE`"), std::string::npos);
}

TEST_F(Program, names_the_kind_of_a_file_that_is_no_checkpoint) {
  write_content(folder_ / "last.pt", std::string("PK\x03\x04") + std::string(22, '\0') + "\x0D" +
                                         std::string(3, '\0') + "last/data.pkl");
  write_content(folder_ / "keras.h5", "\x89HDF\r\n\x1a\n");
  for (const auto& [file, kind] : {std::pair("last.pt", "a PyTorch file (.pt, .pth)"),
                                   std::pair("keras.h5", "an HDF5 file"), std::pair("tiny.yaml", "text")}) {
    const std::string expected = std::string(file) + ": is " + kind + ", not a tpack checkpoint; tpack reads";
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"eval", folder_ / file}, {"infer", folder_ / file, "x.png"}}) {
      const Outcome outcome = tpack(words);
      EXPECT_EQ(outcome.code, 4) << words[0];
      EXPECT_NE(outcome.err.find(expected), std::string::npos) << outcome.err;
    }
    for (const std::vector<std::string>& words : {std::vector<std::string>{"ckpt", "inspect", folder_ / file},
                                                  {"train", config(), "--log-dir", folder_ / "none", "--set",
                                                   "init={from: " + (folder_ / file) + "}"}}) {
      const Outcome outcome = tpack(words);
      EXPECT_EQ(outcome.code, 4) << words[0];
      EXPECT_NE(outcome.err.find(std::string(file) + ": "), std::string::npos) << outcome.err;
    }
  }
  const Outcome outcome = tpack({"check", folder_ / "last.pt"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("last.pt: is a PyTorch file (.pt, .pth), not a config"), std::string::npos)
      << outcome.err;
}

TEST_F(Program, resume_of_no_file_says_what_it_takes) {
  const Outcome outcome = tpack({"train", config(), "--log-dir", folder_ / "run", "--resume", "yes"});
  EXPECT_EQ(outcome.code, 4);
  EXPECT_NE(outcome.err.find("yes: no such file; --resume takes auto, never or a checkpoint"),
            std::string::npos)
      << outcome.err;
}

TEST_F(Program, a_missing_config_is_exit_2) {
  const Outcome outcome = tpack({"check", folder_ / "none.yaml"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(last_line(outcome.err).starts_with("error: ")) << outcome.err;
}

TEST_F(Program, lists_components) {
  const Outcome outcome = tpack({"list", "layers"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.out.find("Conv2D"), std::string::npos);
  EXPECT_EQ(outcome.out.find("ModelSaver"), std::string::npos);
  EXPECT_GT(json::parse(tpack({"list", "--json"}).out).size(), 40U);
  EXPECT_EQ(tpack({"list", "leyer"}).code, 2);
}

TEST_F(Program, describes_a_section) {
  EXPECT_NE(tpack({"describe", "updates"}).out.find("updates.NAME.every"), std::string::npos);
  const json described = json::parse(tpack({"describe", "model.inputs", "--json"}).out);
  EXPECT_EQ(described[0].at("name"), "model.inputs");
  EXPECT_EQ(described[1].at("name"), "model.inputs.NAME.shape");
  EXPECT_EQ(described[1].at("required"), false);
}

TEST_F(Program, describes_a_component) {
  EXPECT_NE(tpack({"describe", "Conv2D"}).out.find("size of the kernel, pixels"), std::string::npos);
  const json described = json::parse(tpack({"describe", "Dropout", "--json"}).out);
  EXPECT_EQ(described[0].at("kind"), "layer");
  EXPECT_EQ(described[0].at("parameters")[0].at("name"), "rate");
  const Outcome unknown = tpack({"describe", "Conv2X"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.err.find("did you mean 'Conv2D'?"), std::string::npos);
}

TEST_F(Program, prints_the_effective_config) {
  const Outcome outcome = tpack({"config", config(), "--resolved", "--json", "--set", "seed=7"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json effective = json::parse(outcome.out);
  EXPECT_EQ(effective.at("seed"), 7);
  EXPECT_EQ(effective.at("optimizer").at("Adam").at("beta1"), 0.9);
  EXPECT_EQ(effective.at("data").at("train").at("workers"), "auto");
}

TEST_F(Program, explains_that_a_default_is_used) {
  EXPECT_EQ(tpack({"config", config(), "--explain", "starting_epoch"}).out, "default: 1 (used)\n");
  EXPECT_EQ(tpack({"config", config(), "--explain", "starting_epoch", "--json"}).out,
            "[{\"where\": \"default\", \"value\": 1, \"used\": true}]\n");
}

TEST_F(Program, explains_no_key_that_there_is_not) {
  const Outcome outcome = tpack({"config", config(), "--explain", "optimiser.Adam.beta1"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err,
            "error: unknown key 'optimiser.Adam.beta1': the config has no 'optimiser'; did you mean "
            "'optimizer.Adam.beta1'?\n");
  for (const char* key : {"", ".", "data."}) {
    const Outcome rejected = tpack({"config", config(), "--explain", key});
    EXPECT_EQ(rejected.code, 2);
    EXPECT_EQ(rejected.out, "");
    EXPECT_NE(rejected.err.find("--explain: needs a key"), std::string::npos) << rejected.err;
  }
}

TEST_F(Program, explains_a_key) {
  const Outcome outcome = tpack({"config", config(), "--explain", "max_epoch", "--set", "max_epoch=5"});
  EXPECT_EQ(outcome.out, config() + ":26:12: 2\n--set max_epoch: 5 (used)\n");
  const json origins = json::parse(tpack({"config", config(), "--explain", "max_epoch", "--json"}).out);
  EXPECT_EQ(origins, json::parse(R"([{"where": ")" + config() + R"(:26:12", "value": 2, "used": true}])"));
}

TEST_F(Program, checks_a_config) {
  const Outcome outcome = tpack({"check", config(), "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out).at("parameters"), 103);
}

TEST_F(Program, inspects_data) {
  const Outcome outcome = tpack({"data", "inspect", config(), "--flow", "train", "--samples", "2", "--json",
                                 "--images", folder_ / "images", "--png", folder_ / "sheet.png"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json flows = json::parse(outcome.out);
  ASSERT_EQ(flows.size(), 1U);
  EXPECT_EQ(flows[0].at("size"), 10);
  EXPECT_EQ(flows[0].at("samples").size(), 4U);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "sheet.png"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ / "images"), {}), 2);
}

TEST_F(Program, shows_the_columns_of_a_table) {
  write_content(folder_ / "t.csv", "a;b\n1,5;x\n2,5;y\n0,5;x\n7,5;y\n");
  const std::vector<std::string> words = {"data",          "schema", folder_ / "t.csv", "--set",
                                          "delimiter=';'", "--set",  "decimal=','"};
  const auto with = [&](const std::string& more) {
    std::vector<std::string> all = words;
    all.push_back(more);
    return tpack(all);
  };
  const json columns = json::parse(with("--json").out).at("columns");
  EXPECT_EQ(columns[0].at("type"), "number");
  EXPECT_EQ(columns[0].at("median"), "2");
  EXPECT_EQ(columns[1].at("type"), "category");
  EXPECT_NE(with("--yaml").out.find("    types:\n      a: number\n      b: category\n"), std::string::npos);
  const Outcome wrong = tpack({"data", "schema", folder_ / "t.csv", "--set", "delimitr=tab"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("did you mean 'delimiter'?"), std::string::npos) << wrong.err;
  EXPECT_EQ(tpack({"data", "schema", folder_ / "no.csv"}).code, 2);
}

TEST_F(Program, inspects_a_folder_with_images_that_cannot_be_decoded) {
  std::filesystem::create_directories(folder_ / "all/a");
  const std::string png = encode_png(Tensor(TensorSpec{DType::kUInt8, {8, 8, 3}})).at(0).png;
  write_content(folder_ / "all/a/1.png", png);
  write_content(folder_ / "all/a/2.png", png.substr(0, png.size() - 20));
  write_content(folder_ / "all/a/3.png", png);
  write_content(
      folder_ / "images.yaml",
      "tpack: 1\ndata:\n  train: {flow: [ImageFolder: {dir: all, shuffle: false}], on_error: skip}\n");
  const Outcome outcome = tpack(
      {"data", "inspect", folder_ / "images.yaml", "--samples", "9", "--images", folder_ / "out", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)[0]["bad_samples"], 1);
  EXPECT_NE(outcome.err.find("2.png"), std::string::npos) << outcome.err;
  EXPECT_EQ(names_in(folder_ / "out"), (std::vector<std::string>{"000-a.png", "001-a.png"}));
}

TEST_F(Program, says_what_the_inspected_flows_left_out) {
  std::filesystem::create_directories(folder_ / "images/a");
  write_content(folder_ / "images/a/x.png", "no image");
  const std::string flow = "{flow: [ImageFolder: " + (folder_ / "images") + "], on_error: skip}";
  const Outcome outcome =
      tpack({"data", "inspect", config(), "--flow", "images", "--set", "data.images=" + flow, "--json"});
  EXPECT_EQ(json::parse(outcome.out)[0].at("bad_samples"), 1) << outcome.err;
  EXPECT_NE(outcome.err.find("image_folder_0, sample 0 of pass 0: " + (folder_ / "images/a/x.png") + ": "),
            std::string::npos)
      << outcome.err;
}

TEST_F(Program, output_that_does_not_arrive_is_exit_5) {
  for (const char* words : {"list", "--help", "schema"}) {
    const int status =
        std::system((testing_cli::program() + " " + words + " >/dev/full 2>/dev/null").c_str());
    EXPECT_EQ(WEXITSTATUS(status), 5) << words;
  }
}

TEST_F(Program, prints_completion_scripts) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Outcome outcome = tpack({"completion", shell});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_NE(outcome.out.find("train"), std::string::npos) << shell;
  }
  EXPECT_EQ(tpack({"completion", "csh"}).code, 2);
}

TEST_F(Program, completes_the_options_of_nested_commands) {
  const std::string script = tpack({"completion", "bash"}).out;
  const size_t data = script.find("    data) ");
  ASSERT_NE(data, std::string::npos);
  const std::string branch = script.substr(data, script.find(";;", data) - data);
  EXPECT_NE(branch.find("inspect"), std::string::npos) << branch;
  EXPECT_NE(branch.find("--png"), std::string::npos) << branch;
}

TEST_F(Program, says_its_version) {
  EXPECT_TRUE(tpack({"version"}).out.starts_with("tpack 0."));
  EXPECT_EQ(tpack({"--version"}).out, tpack({"version"}).out);
  EXPECT_EQ(tpack({"--version"}).code, 0);
}

TEST_F(Program, benches_an_experiment) {
  const Outcome outcome = tpack({"bench", config(), "--steps", "98", "--warm-up", "2", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json report = json::parse(outcome.out);
  EXPECT_GT(report.at("train").at("samples_per_s"), 0);
  EXPECT_GT(report.at("data").at("samples_per_s"), 0);
  EXPECT_GT(report.at("both").at("samples_per_s"), 0);
  EXPECT_GT(report.at("both").at("loss_81_to_100"), 0);
  EXPECT_GT(report.at("peak_rss_mb"), 1);
  EXPECT_FALSE(report.at("kinds").empty());
  EXPECT_FALSE(report.at("nodes").empty());
  const Outcome table = tpack({"bench", config(), "--steps", "2", "--nodes", "3"});
  EXPECT_NE(table.out.find("slowest nodes"), std::string::npos) << table.out;
  EXPECT_EQ(table.out.find("mean cost"), std::string::npos) << "two steps have no steps 81 to 100";
}

/// A convolution that can be computed in two ways at least.
TEST_F(Program, times_kernels_within_the_budget_or_all_of_them) {
  std::string text = testing_cli::kTinyConfig;
  const auto replace = [&](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace("    - FullyConnected: {name: fc0",
          "    - Conv2D: {name: conv0, filters: 32, kernel: 3}\n"
          "    - Conv2D: {name: conv1, filters: 32, kernel: 3}\n"
          "    - FullyConnected: {name: fc0");
  replace("algorithm: heuristic", "timing_s: 0");
  write_content(config(), text);
  setenv("TPACK_CACHE_DIR", (folder_ / "cache").c_str(), 1);
  const std::vector<std::string> bench = {"bench", config(), "--steps", "2", "--warm-up", "0"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), bench.begin(), bench.end());
    return tpack(more);
  };
  EXPECT_EQ(with({}).err.find("timing "), std::string::npos);
  const Outcome all = with({"--time-all"});
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_NE(all.err.find(" that this machine has not timed yet\n"), std::string::npos) << all.err;
  EXPECT_EQ(with({"--set", "engine.timing_s=100"}).err.find("timing "), std::string::npos) << "in the cache";
  unsetenv("TPACK_CACHE_DIR");
  EXPECT_EQ(with({"--set", "engine.timing_s=-1"}).code, 2);
}

TEST_F(Program, predicts_a_step_on_several_nodes) {
  const Outcome outcome = tpack({"bench", config(), "--steps", "3", "--warm-up", "1", "--simulate-allreduce",
                                 "--latency-ms", "1", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json rows = json::parse(outcome.out).at("nodes");
  EXPECT_EQ(rows.front().at("nodes"), 1);
  EXPECT_EQ(rows.back().at("nodes"), 256);
  EXPECT_GT(rows.back().at("step_ms"), rows.front().at("step_ms"));
  EXPECT_LT(rows.back().at("efficiency"), 1);
  const Outcome alone = tpack({"bench", config(), "--gbit-per-s", "10"});
  EXPECT_EQ(alone.code, 2);
  EXPECT_NE(alone.err.find("--gbit-per-s requires --simulate-allreduce"), std::string::npos) << alone.err;
}

}  // namespace
}  // namespace tpack
