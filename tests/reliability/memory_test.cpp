// The memory that `tpack check` predicts, against the most that a training process holds.
#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "training.h"

namespace tpack::reliability {
namespace {

namespace fs = std::filesystem;

/// A config of this project, the data that it needs, and how it is shortened.
struct Shipped {
  std::string name;
  std::string dataset;  // below TPACK_DATASET; empty: none
  int steps = 40;
};

/// Small and large, of each kind of trainer and of data: a network with convolutions, two networks, agents,
/// no network, many images in memory, decoded photographs.
const std::vector<Shipped> kShipped = {
    {"digits", ""},         {"digits-dcgan", ""},       {"catch-dqn", ""},
    {"digits-pca", "", 50}, {"mnist-convnet", "mnist"}, {"photos", "imagenet-sample", 5}};

class Memory : public Training, public testing::WithParamInterface<Shipped> {
 protected:
  void SetUp() override {
    const char* datasets = std::getenv("TPACK_DATASET");
    const std::string dataset = datasets == nullptr ? "" : datasets + ("/" + GetParam().dataset);
    if (!GetParam().dataset.empty() && !fs::exists(dataset))
      GTEST_SKIP() << "TPACK_DATASET has no " << GetParam().dataset;
    if (GetParam().name == "photos") make_photos(dataset);
  }

  double predicted() const {
    const Outcome check = testing_cli::tpack({"check", config(), "--json"});
    EXPECT_EQ(check.code, 0) << check.err;
    return nlohmann::json::parse(check.out).at("memory").at("total");
  }

  /// The most bytes that a training holds whose kernels are chosen by `algorithm`.
  double most_held(const std::string& algorithm) const {
    const std::string run = run_folder(algorithm);
    Process training(
        {program(), "train", config(), "--log-dir", run, "--resume", "never", "--set", "max_epoch=1", "--set",
         "steps_per_epoch=" + std::to_string(GetParam().steps), "--set", "engine.algorithm=" + algorithm},
        folder_ / "out");
    const int code = training.wait();
    EXPECT_TRUE(code == 0 || code == 8) << training.err();  // few steps need not meet a gate
    return nlohmann::json::parse(content_of(run + "/exit.json")).at("peak_memory_bytes");
  }

  std::string config() const { return source_folder() + "/configs/" + GetParam().name + ".yaml"; }

  /// Two classes of photographs for training, and two for validation.
  void make_photos(const std::string& from) const {
    int number = 0;
    for (const auto& photo : fs::directory_iterator(from)) {
      const fs::path part = fs::path(folder_ / "photos") / (number % 5 == 0 ? "val" : "train");
      const fs::path own = part / (number / 5 % 2 == 0 ? "one" : "two");
      fs::create_directories(own);
      fs::copy_file(photo.path(), own / (std::to_string(number++) + ".jpg"));
    }
    setenv("TPACK_PHOTOS", (folder_ / "photos").c_str(), 1);
  }
};

/// Before kernels were timed, the prediction is for the kernels that rules choose. A kernel that timings
/// choose instead never has more scratch memory, so a training that times them holds no more than that.
TEST_P(Memory, is_what_the_check_predicts) {
  const double by_rules = predicted();
  const double held_by_rules = most_held("heuristic");
  const double held = most_held("auto");
  const double by_timings = predicted();
  std::cout << GetParam().name << ": predicted " << by_rules / 1e6 << " MB by rules, held "
            << held_by_rules / 1e6 << " MB; predicted " << by_timings / 1e6 << " MB by timings, held "
            << held / 1e6 << " MB" << std::endl;
  const double allowed = std::max(0.1 * held, 20e6);
  EXPECT_NEAR(by_rules, held_by_rules, allowed);
  EXPECT_NEAR(by_timings, held, allowed);
  EXPECT_LE(held, by_rules + allowed);
}

INSTANTIATE_TEST_SUITE_P(Configs, Memory, testing::ValuesIn(kShipped), [](const auto& param_info) {
  std::string name = param_info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace tpack::reliability
