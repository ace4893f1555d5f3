#pragma once

#include <string>
#include <vector>

#include "dataflow/source.h"

namespace tpack {

/// Base of flows whose samples come from several flows with the same components. The index of a sample is
/// its index in its flow times the number of flows, plus the number of its flow, so that samples of different
/// flows have different random numbers in the maps after it.
class MergedFlow : public Flow {
 public:
  /// `owner`: "ConcatData", for messages. Errors: ConfigError if components differ.
  MergedFlow(std::vector<FlowPtr> flows, StageContext context, std::string owner);

  const Spec& spec() const override { return spec_; }
  /// kIndexed if all flows are; kSequential if one is.
  Access access() const override;
  Seek seek() const override;
  int64_t places() const override;
  std::string repeats() const override;
  /// Errors: ConfigError if class names differ.
  void prepare() const override;
  std::vector<const Source*> sources() const override;
  std::map<std::string, State> learned() const override;
  std::string file_of(const SampleId& id) const override;
  bool get(const PassKey& pass, int64_t place, Datapoint& out) const override;

 protected:
  /// A place in one of the flows.
  struct From {
    size_t flow = 0;
    int64_t place = 0;
  };
  /// The origin of a place, for flows that are not kSequential; nothing if the place is empty.
  virtual std::optional<From> locate(const PassKey& pass, int64_t place) const = 0;

  const std::vector<FlowPtr>& flows() const { return flows_; }
  const StageContext& context() const { return context_; }
  /// Gives a sample of a flow its index among the samples of all flows.
  void number(Datapoint& sample, size_t flow) const;
  /// The place in the flows one after the other; nothing after the last.
  std::optional<From> in_order(int64_t place) const;
  ConfigError mistake(const std::string& text) const { return {context_.position, owner_ + ": " + text}; }

 private:
  Spec common_spec() const;

  std::vector<FlowPtr> flows_;
  StageContext context_;
  std::string owner_;
  Spec spec_;
};

/// Builds the flows of a source, each with its own order. Empty after reporting, or if one is not known yet.
std::vector<FlowPtr> build_flows(const std::vector<FlowField>& fields, FlowBuilder& builder);

}  // namespace tpack
