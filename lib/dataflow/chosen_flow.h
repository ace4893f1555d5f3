#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "dataflow/random_access_flow.h"
#include "dataflow/stage.h"

namespace tpack {

/// Base of flows that choose samples from the source right before them: the places of the inner flow are
/// indices of that source.
class ChosenFlow : public RemappedFlow {
 public:
  /// Errors: ConfigError if `up` is not the flow of a source that can be read in any order; `owner`
  /// ("ClassBalanced") is for messages.
  ChosenFlow(const FlowPtr& up, const StageContext& context, const std::string& owner);

  Access access() const override { return Access::kIndexed; }
  Seek seek() const override { return Seek::kExact; }
  std::optional<int64_t> size() const override { return places(); }
  /// Errors: ConfigError for a source that never ends.
  void prepare() const override;
  std::unique_ptr<Cursor> open_sequential(const PassKey& pass) const override;

 protected:
  const RandomAccessSource& source() const { return from_->source(); }
  const StageContext& context() const { return context_; }
  int64_t source_size() const { return from_->places(); }
  /// Inspects the samples, once, after the source is opened.
  virtual void look() const {}
  /// An error at the position of the stage: "ClassBalanced: " and the text.
  ConfigError mistake(const std::string& text, const Position& where = {}) const;
  /// Whether the component has class numbers.
  bool has_classes(const ComponentRef& component) const;
  /// Errors: ConfigError if the source draws this component again in each pass, so that it is not known in
  /// advance.
  void require_fixed(size_t component) const;
  /// Logs the number of samples that are never chosen because they cannot be read.
  void tell_bad(int64_t bad) const;

 private:
  ChosenFlow(const std::shared_ptr<const RandomAccessFlow>& from, StageContext context, std::string owner);

  std::shared_ptr<const RandomAccessFlow> from_;
  StageContext context_;
  std::string owner_;
  mutable std::mutex looking_;
  mutable bool has_looked_ = false;
};

}  // namespace tpack
