#include <cmath>
#include <dlfcn.h>

#include <gmock/gmock-matchers.h>

#include "callbacks/nvml.h"
#include "config/yaml_reader.h"
#include "support/captured_log.h"
#include "support/errors.h"
#include "support/fake_trainer.h"
#include "support/live_fields.h"
#include "support/paths.h"

namespace tpack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string fake_library() { return build_folder() + "/tests/callbacks/libfake_nvml.so"; }

/// Waits until the devices were read so often.
void wait_for_readings(unsigned int count) {
  void* library = dlopen(fake_library().c_str(), RTLD_NOW);
  const auto readings = reinterpret_cast<unsigned int (*)()>(dlsym(library, "fake_nvml_readings"));
  while (readings() < count) continue;
  dlclose(library);
}

/// A run of one epoch of one step with a tracker that reads the fake library.
std::unique_ptr<TestRun> run_with(FakeTrainer& trainer, const std::string& name,
                                  const std::string& more = "") {
  auto run = std::make_unique<TestRun>(RunLength{.max_epoch = 1, .steps_per_epoch = 1}, trainer);
  run->add(name, parse_yaml("{library: " + fake_library() + more + "}", "g.yaml"));
  return run;
}

TEST(GPUUtilizationTracker, reports_how_busy_each_device_is) {
  FakeTrainer trainer;
  const auto run = run_with(trainer, "GPUUtilizationTracker");
  run->go();
  EXPECT_THAT(run->values("gpu_0_utilization"), ElementsAre(10)) << "one reading at the end of a short epoch";
  EXPECT_THAT(run->values("gpu_1_utilization"), ElementsAre(20));
}

/// However many readings there are: the mean of the first n of 10, 20, 30 ... is a multiple of 5.
TEST(GPUUtilizationTracker, takes_the_mean_of_an_epoch) {
  FakeTrainer trainer;
  const auto run = run_with(trainer, "GPUUtilizationTracker", ", period_s: 0.01, devices: [0]");
  trainer.on_step = [](int64_t) { wait_for_readings(3); };
  run->go();
  const double mean = run->values("gpu_0_utilization").at(0);
  EXPECT_EQ(std::fmod(mean, 5), 0);
  EXPECT_GE(mean, 20);
  EXPECT_TRUE(run->values("gpu_1_utilization").empty());
}

TEST(GPUMemoryTracker, reports_the_most_memory_in_use) {
  FakeTrainer trainer;
  const auto run = run_with(trainer, "GPUMemoryTracker", ", devices: [1]");
  run->go();
  EXPECT_THAT(run->values("gpu_1_memory_gb"), ElementsAre(2));
}

TEST(GpuTracker, may_report_while_it_reads) {
  FakeRun run({.max_epoch = 2, .steps_per_epoch = 3});
  const std::string item =
      "PeriodicTrigger: {every_k_steps: 1, callback: {GPUUtilizationTracker: {library: " + fake_library() +
      ", period_s: 0.01, devices: [0]}}}";
  run.trainer.on_step = [](int64_t) { wait_for_readings(3); };
  run.add("tracker", Registry<Callback>::make_item(parse_yaml(item, "g.yaml"))).go();
  for (const double mean : run.values("gpu_0_utilization")) EXPECT_EQ(std::fmod(mean, 5), 0);
  EXPECT_FALSE(run.values("gpu_0_utilization").empty());
}

std::string error_of_tracker(const std::string& item) {
  FakeRun run({.max_epoch = 1, .steps_per_epoch = 1});
  return error_from([&] { run.add("x", Registry<Callback>::make_item(parse_yaml(item, "g.yaml"))).go(); });
}

TEST(GpuTracker, without_a_library_it_warns_and_reports_nothing) {
  const CapturedLog log;
  EXPECT_EQ(error_of_tracker("GPUMemoryTracker: {library: libno-such-nvml.so}"), "no error");
  EXPECT_TRUE(says(log.text(), {"GPUMemoryTracker reports nothing", "libno-such-nvml.so"}));
}

TEST(GpuTracker, devices_that_are_named_must_be_there) {
  EXPECT_THAT(error_of_tracker("GPUMemoryTracker: {library: libno-such-nvml.so, devices: [0]}"),
              HasSubstr("callback GPUMemoryTracker: cannot load libno-such-nvml.so"));
  EXPECT_TRUE(says(error_of_tracker("GPUMemoryTracker: {library: " + fake_library() + ", devices: [0, 2]}"),
                   {"callback GPUMemoryTracker: ", "device 2", "this machine has 2"}));
}

/// The figures of a short epoch; of one in which readings are awaited, if they are frequent, only that it
/// ends.
std::string figures_with(const std::string& item) {
  const bool is_frequent = item.find("0.01") != std::string::npos;
  FakeRun run({.max_epoch = 1, .steps_per_epoch = 1});
  run.trainer.on_step = [&](int64_t) {
    if (is_frequent) wait_for_readings(3);
  };
  run.add("x", Registry<Callback>::make_item(parse_yaml(item, "g.yaml"))).go();
  std::string text;
  for (const std::string& name : run.monitors.names()) {
    const double value = run.values(name)[0];
    text += name + " " + (is_frequent ? std::to_string(value > 2.5) : shortest(value)) + " ";
  }
  return text;
}
live::Component tracker_fields() {
  return {.base = "{period_s: 3600, library: " + fake_library() + "}",
          .values = {{"devices", "[1]"}, {"period_s", "0.01"}, {"library", "libno-such-nvml.so"}},
          .build = figures_with};
}
const live::Fields kGPUUtilizationTracker("callback", "GPUUtilizationTracker", tracker_fields());
const live::Fields kGPUMemoryTracker("callback", "GPUMemoryTracker", tracker_fields());

}  // namespace
}  // namespace tpack
