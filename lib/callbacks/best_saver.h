#pragma once

#include <optional>
#include <string>

#include "train/callback.h"

namespace tpack {

/// What MinSaver and MaxSaver share: a checkpoint of the epoch in which a scalar was better than in every
/// epoch that was saved before. Only a value put at this very step counts, so no other epoch can be saved by
/// mistake. The best so far is what the file in the run folder holds: a resumed run reads it from there, not
/// from its checkpoint, so that the file is never replaced by one less good.
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
