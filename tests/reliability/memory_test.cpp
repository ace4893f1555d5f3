// The memory that `tpack check` predicts, against the most that a training process holds.
#include <algorithm>
#include <filesystem>
#include <set>

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
  double slack = 0;  // bytes besides the five percent
};

// A process that trains a small model without threads for data holds less than the fixed part of the
// estimate.
constexpr double kWithoutWorkers = 7e6;

const std::vector<Shipped> kShipped = {{"autoencoder", ""},
                                       {"cartpole-a3c", "", 40, kWithoutWorkers},
                                       {"cartpole-dqn", "", 40, kWithoutWorkers},
                                       {"cartpole-ppo", "", 40, kWithoutWorkers},
                                       {"catch-dqn", "", 40, kWithoutWorkers},
                                       {"cifar-resnet", "", 10},
                                       {"digits", ""},
                                       {"digits-callbacks", ""},
                                       {"digits-conditional-gan", ""},
                                       {"digits-dcgan", ""},
                                       {"digits-gan", ""},
                                       {"digits-infogan", ""},
                                       {"digits-kmeans", "", 40, kWithoutWorkers},
                                       {"digits-linear", ""},
                                       {"digits-pca", "", 50, kWithoutWorkers},
                                       {"digits-pix2pix", ""},
                                       {"digits-wgan", ""},
                                       {"digits-wgan-gp", ""},
                                       {"fashion-mnist", "fashion-mnist"},
                                       {"mlp", "mnist"},
                                       {"mnist-convnet", "mnist"},
                                       {"photos", "imagenet-sample", 5}};

class Memory : public Training, public testing::WithParamInterface<Shipped> {
 protected:
  void SetUp() override {
    const char* datasets = std::getenv("TPACK_DATASET");
    const std::string dataset = datasets == nullptr ? "" : datasets + ("/" + GetParam().dataset);
    if (!GetParam().dataset.empty() && !fs::exists(dataset))
      GTEST_SKIP() << "TPACK_DATASET has no " << GetParam().dataset;
    if (GetParam().name == "cifar-resnet" && std::getenv("TPACK_CIFAR") == nullptr)
      GTEST_SKIP() << "TPACK_CIFAR is not set";
    if (GetParam().name == "photos") make_photos(dataset);
  }

  double predicted() const {
    const Outcome check = testing_cli::tpack({"check", config(), "--json"});
    EXPECT_EQ(check.code, 0) << check.err;
    return nlohmann::json::parse(check.out).at("memory").at("total");
  }

  /// The most bytes that a training holds.
  double most_held() const {
    Process training({program(), "train", config(), "--log-dir", run_folder("run"), "--resume", "never",
                      "--set", "max_epoch=1", "--set", "steps_per_epoch=" + std::to_string(GetParam().steps)},
                     folder_ / "out");
    const int code = training.wait();
    EXPECT_TRUE(code == 0 || code == 8) << training.err();  // few steps need not meet a gate
    return nlohmann::json::parse(content_of(run_folder("run") + "/exit.json")).at("peak_memory_bytes");
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

/// Before the first training, the check knows no timings and chooses kernels by rules. Measured kernels need
/// no more scratch memory than those, but may use layouts that need less: photos 206 or 231 MB, where rules
/// need 229.
TEST_P(Memory, is_what_the_check_predicts_within_five_percent) {
  const Shipped& shipped = GetParam();
  const double by_rules = predicted();
  double held = most_held();
  const double by_timings = predicted();
  // Threads that happen to need memory at the same time make the allocator hold more (autoencoder: 61 to 66
  // MB; mnist-convnet: 143, 149 or 153 MB, see kLargeBlock in app/main.cpp): the least of a few runs counts.
  for (int more = 9; more > 0 && held > 1.05 * by_timings; --more) held = std::min(held, most_held());
  std::cout << shipped.name << ": predicted " << by_rules / 1e6 << " MB by rules, " << by_timings / 1e6
            << " MB by timings, held " << held / 1e6 << " MB, " << 100 * (by_timings / held - 1) << " %"
            << std::endl;
  EXPECT_NEAR(by_timings, held, 0.05 * held + shipped.slack);
  EXPECT_GT(by_rules, 0.95 * held);
}

INSTANTIATE_TEST_SUITE_P(Configs, Memory, testing::ValuesIn(kShipped), [](const auto& param_info) {
  std::string name = param_info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// Small models on data that the tests of these configs make first; and callbacks that write tensors, whose
// own memory the check does not count.
const std::set<std::string> kLeftOut = {"caffe-lmdb", "digits-watched", "multi-label", "regression"};

TEST(MemoryOf, every_config_is_looked_at) {
  for (const auto& file : fs::directory_iterator(source_folder() + "/configs")) {
    const std::string name = file.path().stem();
    if (kLeftOut.contains(name)) continue;
    EXPECT_TRUE(std::any_of(kShipped.begin(), kShipped.end(), [&](const Shipped& s) {
      return s.name == name;
    })) << name;
  }
}

}  // namespace
}  // namespace tpack::reliability
