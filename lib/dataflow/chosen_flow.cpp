#include "dataflow/chosen_flow.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "system/log.h"

namespace tpack {
namespace {

std::shared_ptr<const RandomAccessFlow> indexed(const FlowPtr& up, const StageContext& context,
                                                const std::string& owner) {
  const auto* from = dynamic_cast<const RandomAccessFlow*>(up.get());
  if (from != nullptr) return from->by_index();
  throw ConfigError(context.position, owner +
                                          ": it must come right after a source that reads its samples in any "
                                          "order, such as CSV, ImageFolder or Npz; put maps and other stages "
                                          "after it");
}

}  // namespace

ChosenFlow::ChosenFlow(const FlowPtr& up, const StageContext& context, const std::string& owner)
    : ChosenFlow(indexed(up, context, owner), context, owner) {}

ChosenFlow::ChosenFlow(const std::shared_ptr<const RandomAccessFlow>& from, StageContext context,
                       std::string owner)
    : RemappedFlow(from), from_(from), context_(std::move(context)), owner_(std::move(owner)) {}

void ChosenFlow::prepare() const {
  up().prepare();
  if (source_size() == kEndless) throw mistake("the source never ends; give it a size");
  const std::lock_guard lock(looking_);
  if (!has_looked_) look();
  has_looked_ = true;
}

std::unique_ptr<Cursor> ChosenFlow::open_sequential(const PassKey& pass) const {
  return cursor_by_place(*this, pass);  // it is never sequential
}

ConfigError ChosenFlow::mistake(const std::string& text, const Position& where) const {
  return {where.known() ? where : context_.position, owner_ + ": " + text};
}

bool ChosenFlow::has_classes(const ComponentRef& component) const {
  const ComponentSpec& found = spec()[spec().index(component, "stage " + owner_)];
  return found.tensor == TensorSpec{DType::kInt32, {}};
}

void ChosenFlow::require_fixed(size_t component) const {
  constexpr int64_t kTried = 8;  // it is unlikely that all of them are equal by chance
  const auto value = [&](int64_t index, uint64_t seed) {
    Datapoint d;
    d.resize(spec().size());
    source().get(index, {seed, {static_cast<int64_t>(seed), index, 0}, seed}, d);
    return d.to_tensor(component).at(0);
  };
  for (int64_t i = 0; i < std::min(kTried, source_size()); ++i) {
    try {
      if (value(i, 1) == value(i, 2)) continue;
    } catch (const DataError&) {
      continue;  // a bad sample
    }
    throw mistake("the source draws new samples in each pass, so '" + spec()[component].name +
                  "' is not known in advance; it needs stored data");
  }
}

void ChosenFlow::tell_bad(int64_t bad) const {
  if (bad == 0) return;
  log::warning(owner_ + ": " + with_thousands(bad) +
               (bad == 1 ? " sample is never drawn, as it" : " samples are never drawn, as they") +
               " cannot be read");
}

}  // namespace tpack
