#pragma once

#include <optional>
#include <string>

#include "train/callback.h"

namespace tpack {

/// Base of MinSaver and MaxSaver: saves a checkpoint of the epoch if a scalar is better than in all epochs
/// saved before. Only a value reported at this step counts, so a different epoch is never saved by mistake.
/// The best value is that of the file in the run folder: a resumed run reads it from there, not from its
/// checkpoint, so that the file is never replaced by a worse one.
class BestSaver : public Callback, public CheckpointWriting {
 public:
  std::vector<std::string> checkpoints() const override { return {file_name_}; }
  std::vector<std::pair<std::string, Goal>> saves_best_of() const override {
    return {{monitor_.name, goal_}};
  }
  void setup(Setup& setup) override;
  void before_train(Run& run) override;
  void trigger(Run& run) override;
  void after_train(Run& run) override;

 protected:
  struct Params {
    Ref<Stat> monitor;
    std::string file;  // empty: PREFIX-STATISTIC.h5
  };
  static Schema<Params> with_fields(Schema<Params> schema);
  /// `who` is for messages; `opposite` is the callback for the other goal.
  BestSaver(std::string who, std::string opposite, Params p, Goal goal);

 private:
  void say_what_is_not_here(Run& run) const;
  double value_of(const std::string& path) const;

  std::string who_;
  std::string opposite_;
  Ref<Stat> monitor_;
  std::string file_name_;
  Goal goal_;
  std::optional<double> best_;
};

}  // namespace tpack
