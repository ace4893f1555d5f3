#pragma once

#include <atomic>
#include <memory>

#include "dataflow/source.h"

namespace tpack {

/// The flow of a RandomAccessSource.
class RandomAccessFlow final : public Flow {
 public:
  enum class Order : uint8_t {
    kOfPass,   // as the source defines: its own order, or a new one in each pass
    kOfSource  // places are indices of the source
  };
  RandomAccessFlow(std::shared_ptr<RandomAccessSource> source, StageContext context,
                   Order order = Order::kOfPass);

  const RandomAccessSource& source() const { return *source_; }
  /// The same samples, in the order of the source.
  std::shared_ptr<const RandomAccessFlow> by_index() const;

  const Spec& spec() const override { return spec_; }
  Access access() const override { return Access::kIndexed; }
  int64_t places() const override { return source_->size(); }
  void prepare() const override { source_->prepare_once(context_.position); }
  std::vector<const Source*> sources() const override { return {source_.get()}; }
  std::string file_of(const SampleId& id) const override {
    const bool is_known = id.index >= 0 && id.index < source_->size();  // or of a damaged cache
    return is_known ? source_->file_of(id.index) : std::string();
  }
  bool get(const PassKey& pass, int64_t place, Datapoint& out) const override;

 private:
  int64_t index(const PassKey& pass, int64_t place) const;

  std::shared_ptr<RandomAccessSource> source_;
  StageContext context_;
  Order order_;
  Spec spec_;
  mutable std::atomic<int64_t> checked_pass_ = -1;  // whose start found the files unchanged
};

}  // namespace tpack
