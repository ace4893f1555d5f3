#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "backend/device.h"

namespace tpack {

/// A device that records how each graph is compiled on it: "measured", "by rules", or "as planned" if its
/// section of the plan was already chosen.
class WatchedDevice final : public Device {
 public:
  WatchedDevice(std::unique_ptr<Device> device, std::function<void(const std::string& how)> tell)
      : Device(device->info()), device_(std::move(device)), tell_(std::move(tell)) {}
  void create_variables(const VariableTable& table) override { device_->create_variables(table); }
  void share_variables(const VariableTable& table, const VariableStore& store, Sharing sharing) override {
    device_->share_variables(table, store, sharing);
  }
  bool can_share_variables() const override { return device_->can_share_variables(); }
  VariableStore& variables() override { return device_->variables(); }
  std::unique_ptr<Executable> compile(const Graph& graph, PlanSection& section, Choosing choosing) override {
    const char* chosen_now = choosing == Choosing::kMeasured ? "measured" : "by rules";
    tell_(section.chosen ? "as planned" : chosen_now);
    return device_->compile(graph, section, choosing);
  }
  uint64_t arena_bytes() const override { return device_->arena_bytes(); }
  void assist(const std::atomic<uint32_t>& turn, uint32_t old) override { device_->assist(turn, old); }

 private:
  std::unique_ptr<Device> device_;
  std::function<void(const std::string& how)> tell_;
};

}  // namespace tpack
