// Two networks that are trained in turn, against 20 steps of PyTorch: on one device, on two towers, on two
// ranks.
#include <gmock/gmock-matchers.h>

#include "backend/open_device.h"
#include "experiment/experiment.h"
#include "golden/golden.h"
#include "parallel/data_parallel.h"
#include "support/mpi_world.h"
#include "support/paths.h"

namespace tpack {
namespace {

using golden::Json;

enum class Backend : uint8_t { kReference, kCpu };

constexpr int64_t kSteps = 20;

struct Setting {
  std::string name = "plain";  // the part of the golden file
  Backend backend = Backend::kReference;
  size_t towers = 1;
  Comm* world = nullptr;
};

class TwoUpdates {
 public:
  explicit TwoUpdates(const Setting& setting)
      : setting_(setting),
        key_("two_updates/" + setting.name),
        all_(golden::read("two_updates.json")),
        golden_(all_.at(setting.name)),
        experiment_(load_experiment(
            source_folder() + "/" + all_.at("config").get<std::string>(),
            {"vars.normalized=" + std::string(setting.name == "normalized" ? "true" : "false"),
             "model.inputs.z.dtype=" + input_type(), "model.inputs.real.dtype=" + input_type(),
             "updates=" + std::string(setting.name == "turns" ? "{d: {steps: 2}, g: {steps: 1, every: 1}}"
                                                              : "{g: {every: 2}}")})) {
    ReplicaOptions options;
    options.make_device = [&setting](size_t k, int /*threads*/) {
      const std::string name = "cpu:" + std::to_string(k);
      return setting.backend == Backend::kReference
                 ? make_reference_device(name, {.float_type = DType::kFloat64})
                 : open_device(name, DeviceOptions{.algorithm = DeviceOptions::Algorithm::kDirect});
    };
    options.towers = setting.towers;
    options.world = setting.world;
    replicas_ =
        std::make_unique<DataParallel>(*experiment_.tower, experiment_.updates, plan_, std::move(options));
    const Signature signature = signature_of(batch(0, 0));
    statistics_ = replicas_->declare(signature);
    replicas_->build(signature);
    replicas_->initialize();
    for (size_t k = 0; k < replicas_->local_towers(); ++k) {
      for (const auto& [name, spec] : golden_.at("variables").items())
        replicas_->device(k).variables().set(name, golden::draw(key_ + "/" + name, spec, float_type()));
    }
  }

  void expect_golden(double tolerance) {
    std::map<std::string, std::vector<double>> costs;
    for (int64_t step = 0; step < kSteps; ++step) {
      std::vector<std::vector<Tensor>> fed(replicas_->local_towers());
      ASSERT_TRUE(replicas_->step(step, [&](size_t k, int64_t /*number*/) -> std::span<const Tensor> {
        fed[k] = batch(step, k);
        return fed[k];
      }));
      for (size_t i = 0; i < statistics_.size(); ++i)
        costs[statistics_[i]].push_back(replicas_->statistic(i).value());
    }
    for (const Update& update : experiment_.updates) expect_costs(update, costs[update.name], tolerance);
    for (const auto& [name, summary] : golden_.at("after").items())
      EXPECT_TRUE(
          golden::agrees(key_ + "/after/" + name, replicas_->variables().value(name), summary, tolerance));
    EXPECT_EQ(golden_.at("after").size(), replicas_->variables().names(VariableScope::kModel).size());
  }

 private:
  DType float_type() const {
    return setting_.backend == Backend::kReference ? DType::kFloat64 : DType::kFloat32;
  }
  std::string input_type() const { return name_of(float_type()); }

  /// Tower k's part of a step's samples, in this process.
  std::vector<Tensor> batch(int64_t step, size_t k) const {
    std::vector<Tensor> fed;
    for (const auto& [name, spec] : all_.at("inputs").items()) {
      const Tensor whole =
          golden::draw(key_ + "/step" + std::to_string(step) + "/" + name, spec, float_type());
      const int64_t rows = whole.shape()[0] / replicas_->replicas();
      const int64_t first = replicas_->replica(k) * rows;
      fed.push_back(whole.rows(first, first + rows));
    }
    return fed;
  }

  /// The statistic of a step in which the update does not run is that of its last run. On ranks, each rank
  /// has only its own half.
  void expect_costs(const Update& update, const std::vector<double>& ours, double tolerance) const {
    if (setting_.world != nullptr) return;
    const auto expected = golden_.at("costs").at(update.name).get<std::vector<double>>();
    size_t runs = 0;
    for (size_t step = 0; step < ours.size(); ++step) {
      if (update.schedule.includes(static_cast<int64_t>(step))) ++runs;
      if (runs == 0) continue;
      const double golden = expected.at(runs - 1);
      EXPECT_NEAR(ours[step], golden, tolerance * golden) << update.name << ", step " << step;
    }
    EXPECT_EQ(runs, expected.size());
  }

  Setting setting_;
  std::string key_;
  Json all_;
  Json golden_;
  Experiment experiment_;
  Plan plan_;
  std::unique_ptr<DataParallel> replicas_;
  std::vector<std::string> statistics_;
};

constexpr double kInDouble = 1e-9;
constexpr double kInFloat = 1e-5;

TEST(GoldenUpdates, follow_pytorch_on_one_device) {
  TwoUpdates({}).expect_golden(kInDouble);
  TwoUpdates({.backend = Backend::kCpu}).expect_golden(kInFloat);
}

TEST(GoldenUpdates, move_averages_of_the_network_that_they_train_alone) {
  TwoUpdates({.name = "normalized"}).expect_golden(kInDouble);
  TwoUpdates({.name = "normalized", .backend = Backend::kCpu}).expect_golden(kInFloat);
}

TEST(GoldenUpdates, take_turns) {
  for (const size_t towers : {size_t{1}, size_t{2}}) {
    TwoUpdates({.name = "turns", .towers = towers}).expect_golden(kInDouble);
    TwoUpdates({.name = "turns", .backend = Backend::kCpu, .towers = towers}).expect_golden(kInFloat);
  }
}

TEST(GoldenUpdates, follow_pytorch_on_two_towers) {
  TwoUpdates({.towers = 2}).expect_golden(kInDouble);
  TwoUpdates({.backend = Backend::kCpu, .towers = 2}).expect_golden(kInFloat);
}

TEST(GoldenUpdatesRanks, follow_pytorch) {
  if (!started_by_mpirun()) GTEST_SKIP() << "not started by mpirun (or built without MPI)";
  Comm& world = MpiWorld::comm();
  TwoUpdates({.world = &world}).expect_golden(kInDouble);
  TwoUpdates({.backend = Backend::kCpu, .world = &world}).expect_golden(kInFloat);
  TwoUpdates({.name = "turns", .world = &world}).expect_golden(kInDouble);
}

}  // namespace
}  // namespace tpack
