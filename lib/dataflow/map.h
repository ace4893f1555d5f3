#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "dataflow/datapoint.h"
#include "dataflow/flow.h"
#include "dataflow/source.h"

namespace tpack {

class Fit;
class FittedMap;

/// Changes one datapoint, and nothing else. Any number of workers run it at once, in any order. Its
/// randomness comes only from the key.
class Map {
 public:
  static constexpr const char* kKind = "map";

  Map() = default;
  Map(const Map&) = delete;
  Map& operator=(const Map&) = delete;
  virtual ~Map() = default;

  /// For predictions, which need only the components `wanted` after it: drops work for other components, and
  /// returns the components needed before it; nothing if the map is not needed. At most once, before `bind`.
  virtual std::optional<std::vector<std::string>> narrow(std::vector<std::string> wanted) { return wanted; }
  /// Called once, before `apply`, with the input spec; returns the output spec. Errors: ConfigError if the
  /// map cannot work on it.
  virtual Spec bind(const Spec& in) = 0;
  /// True if `apply` may return false. The size of a pass after such a map is unknown.
  virtual bool may_drop() const { return false; }
  /// False drops the datapoint. Errors: DataError for a bad datapoint.
  virtual bool apply(Datapoint& d, const SampleKey& key) const = 0;
};

/// Implements Map::narrow for a map that changes one component.
std::optional<std::vector<std::string>> needed_if_wanted(const ComponentRef& changed,
                                                         std::vector<std::string> wanted);

/// The error of a map that needs class names if its flow does not have them, perhaps because the data are
/// missing.
class UnknownClasses : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

/// A flow that applies a map to each of its items.
class MapFlow final : public WrappedFlow {
 public:
  /// For a FittedMap: the values to use (null: it learns from its own flow), and whether it skips bad
  /// samples.
  struct Fitting {
    std::shared_ptr<Fit> fit = nullptr;
    bool skips_bad = false;
  };
  /// Binds the map. Errors: ConfigError of Map::bind.
  MapFlow(FlowPtr up, std::shared_ptr<Map> map, StageContext context, Fitting fitting);
  MapFlow(FlowPtr up, std::shared_ptr<Map> map, StageContext context)
      : MapFlow(std::move(up), std::move(map), std::move(context), Fitting{}) {}

  const Spec& spec() const override { return spec_; }
  void prepare() const override;
  std::map<std::string, State> learned() const override;
  Access access() const override;
  Seek seek() const override;
  std::optional<int64_t> size() const override;
  bool get(const PassKey& pass, int64_t place, Datapoint& out) const override;
  std::unique_ptr<Cursor> open(const PassKey& pass) const override;

  /// Applies the map to one datapoint. Errors: SampleError.
  bool apply(uint64_t seed, Datapoint& d) const;
  /// The same without randomness, for predictions.
  bool apply_fixed(Datapoint& d) const;
  const StageContext& context() const { return context_; }
  bool may_drop() const { return map_->may_drop(); }

 private:
  bool apply(const SampleKey& key, Datapoint& d) const;
  State learn(FittedMap& map, const std::string& name) const;
  void see(FittedMap& map, Datapoint& d) const;

  std::shared_ptr<Map> map_;
  StageContext context_;
  Fitting fitting_;
  mutable std::mutex learning_;
  mutable std::optional<std::pair<std::string, State>> learned_;  // with its fitted_name
  Spec spec_;
};

}  // namespace tpack
