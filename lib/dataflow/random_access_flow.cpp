#include "dataflow/random_access_flow.h"

#include "system/mapping_guard.h"

namespace tpack {

RandomAccessFlow::RandomAccessFlow(std::shared_ptr<RandomAccessSource> source, StageContext context,
                                   Order order)
    : source_(std::move(source)), context_(std::move(context)), order_(order), spec_(source_->spec()) {}

std::shared_ptr<const RandomAccessFlow> RandomAccessFlow::by_index() const {
  return std::make_shared<RandomAccessFlow>(source_, context_, Order::kOfSource);
}

bool RandomAccessFlow::get(const PassKey& pass, int64_t place, Datapoint& out) const {
  const SampleId id{pass.pass, index(pass, place), pass.repeat};
  out.set_id(id);
  out.resize(spec_.size());
  try {
    if (checked_pass_ != pass.pass) {
      source_->check_unchanged();
      checked_pass_ = pass.pass;
    }
    source_->get(id.index, SampleKey{pass.seed, id, context_.key}, out);
    check_mapped_files();
  } catch (...) {
    rethrow_with_sample(context_.place_of(id, file_of(id)));
  }
  return true;
}

int64_t RandomAccessFlow::index(const PassKey& pass, int64_t place) const {
  if (order_ == Order::kOfSource || !source_->shuffled() || context_.keeps_order) return place;
  const Permutation order(static_cast<uint64_t>(places()), pass.key(context_.key));
  return static_cast<int64_t>(order(static_cast<uint64_t>(place)));
}

}  // namespace tpack
