#include <cstdio>
#include <optional>
#include <set>

#include "callbacks/extra_file.h"
#include "callbacks/watched_tensors.h"
#include "checkpoint/checkpoint.h"
#include "system/log.h"

namespace tpack {
namespace {

constexpr const char* kTensorFolder = "tensors";

struct DumpTensorsParams : TensorPatterns {};

/// The path of a tensor in the file. A block is a group with its layers, so its own output gets a different
/// name.
std::vector<std::string> paths_in_file(const std::vector<std::string>& names, size_t outputs) {
  const std::set<std::string> all(names.begin(), names.begin() + static_cast<int64_t>(outputs));
  std::vector<std::string> paths;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i >= outputs) {
      paths.push_back((names[i].starts_with("gradient/") ? "" : "variable/") + names[i]);
      continue;
    }
    const auto below = all.lower_bound(names[i] + "/");
    const bool is_group = below != all.end() && below->starts_with(names[i] + "/");
    paths.push_back("output/" + names[i] + (is_group ? "/its output" : ""));
  }
  return paths;
}

/// Source: tensorpack callbacks/graph.py, DumpTensors.
class DumpTensors final : public Callback {
 public:
  using Params = DumpTensorsParams;
  static Schema<Params> schema() {
    return watching(Schema<Params>("Writes the values of tensors in each step to tensors/step-NUMBER.h5 of "
                                   "the run folder: outputs before the step's updates, gradients of the "
                                   "step, variables after it. `tpack ckpt diff` compares the files of two "
                                   "runs; h5py reads them. To choose the steps, set `when`."))
        .example("DumpTensors: {outputs: [fc1], gradients: [fc1/.*]}");
  }
  explicit DumpTensors(Params p) : p_(std::move(p)) {}

  void setup(Setup& setup) override {
    tensors_.emplace(setup, p_);
    paths_ = paths_in_file(tensors_->names(), tensors_->outputs());
  }
  void before_train(Run& run) override {
    if (run.folder().empty()) log::warning("DumpTensors writes nothing: the run has no log folder");
  }
  void compile(Run& /*run*/) override { tensors_->compile(); }
  void before_run(Run& run) override {
    if (!run.folder().empty()) tensors_->want();
  }
  void after_run(Run& run) override {
    if (run.folder().empty()) return;
    CheckpointContent content;
    content.step = run.global_step();
    content.epoch = run.epoch();
    for (size_t i = 0; i < paths_.size(); ++i) {
      if (const auto value = tensors_->value(i)) content.tensors[paths_[i]] = *value;
    }
    char name[64];
    std::snprintf(name, sizeof name, "/step-%09lld.h5", static_cast<long long>(run.global_step()));
    const std::string path = run.folder() + "/" + kTensorFolder + name;
    write_extra_file(path, [&] { save_checkpoint(path, std::move(content)); });
  }

 private:
  Params p_;
  std::optional<WatchedTensors> tensors_;
  std::vector<std::string> paths_;
};

TPACK_REGISTER(Callback, DumpTensors, "DumpTensors");

}  // namespace
}  // namespace tpack
