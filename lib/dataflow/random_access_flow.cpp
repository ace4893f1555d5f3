#include "dataflow/random_access_flow.h"

#include <algorithm>

#include "core/rng.h"
#include "dataflow/part_times.h"
#include "system/mapping_guard.h"

namespace tpack {
namespace {

/// The index at a place of a shuffled pass. Blocks of samples get a new order, and 32 at a time are mixed, so
/// that a pass reads the file in long pieces. Starts anywhere in the order, so that the samples after the
/// last whole block are not always the last ones.
int64_t index_in_blocks(int64_t place, int64_t samples, int64_t block, uint64_t key) {
  const auto shuffled = [](int64_t i, int64_t size, uint64_t order) {
    return static_cast<int64_t>(Permutation(static_cast<uint64_t>(size), order)(static_cast<uint64_t>(i)));
  };
  constexpr int64_t kMixed = 32;
  const int64_t blocks = samples / block;
  if (block == 1 || blocks < 2) return shuffled(place, samples, key);
  const int64_t group = place / (kMixed * block);
  const int64_t begin = group * kMixed * block;
  const int64_t length = std::min(kMixed * block, samples - begin);
  const auto start = static_cast<int64_t>(mix(key, 0) % static_cast<uint64_t>(samples));
  const int64_t mixed = shuffled(place - begin, length, mix(key, static_cast<uint64_t>(group) + 1));
  const int64_t at = (begin + mixed + start) % samples;
  if (at >= blocks * block) return at;
  return shuffled(at / block, blocks, key) * block + at % block;
}

}  // namespace

RandomAccessFlow::RandomAccessFlow(std::shared_ptr<RandomAccessSource> source, StageContext context,
                                   Order order)
    : source_(std::move(source)), context_(std::move(context)), order_(order), spec_(source_->spec()) {}

std::shared_ptr<const RandomAccessFlow> RandomAccessFlow::by_index() const {
  return std::make_shared<RandomAccessFlow>(source_, context_, Order::kOfSource);
}

bool RandomAccessFlow::get(const PassKey& pass, int64_t place, Datapoint& out) const {
  const PartTimer timer(context_.name, &out);
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
  return index_in_blocks(place, places(), source_->block(), pass.key(context_.key));
}

}  // namespace tpack
