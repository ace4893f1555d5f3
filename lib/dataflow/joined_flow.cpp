#include "dataflow/joined_flow.h"

#include <algorithm>
#include <exception>

#include "core/error.h"
#include "core/rng.h"
#include "core/text.h"
#include "dataflow/part_times.h"
#include "dataflow/source.h"

namespace tpack {
namespace {

/// Moves the components of all parts, in order, out of the children of `out`.
void gather(Datapoint& out, const std::vector<FlowPtr>& flows) {
  out.set_id(out.child(0).id());
  size_t at = 0;
  for (size_t part = 0; part < flows.size(); ++part) {
    Datapoint& child = out.child(part);
    for (size_t i = 0; i < child.size(); ++i) out.swap_component(at++, child, i);
  }
}

constexpr const char* kShortestFix = "; set shortest: true to end with the shortest flow";

class JoinedCursor final : public Cursor {
 public:
  JoinedCursor(const std::vector<FlowPtr>& flows, size_t components, Lengths lengths, const PassKey& pass,
               const std::string& name)
      : flows_(flows), components_(components), lengths_(lengths), name_(name) {
    for (const FlowPtr& flow : flows) cursors_.push_back(flow->open(pass));
  }
  bool next(Datapoint& out) override {
    const PartTimer timer(name_, &out);
    std::exception_ptr bad;  // the other parts skip the partners of the bad sample
    size_t ended = 0;
    for (size_t i = 0; i < cursors_.size(); ++i) {
      try {
        if (!cursors_[i]->next(out.child(i))) ++ended;
      } catch (...) {
        if (!bad) bad = std::current_exception();
      }
    }
    if (ended > 0) {
      if (ended < cursors_.size() && lengths_ == Lengths::kEqual) {
        throw DataError("JoinData: one of its flows ended before the others" + std::string(kShortestFix));
      }
      return false;
    }
    if (bad) std::rethrow_exception(bad);
    out.resize(components_);
    gather(out, flows_);
    return true;
  }
  int64_t skip(int64_t count) override {
    int64_t least = count;
    for (const auto& cursor : cursors_) least = std::min(least, cursor->skip(count));
    return least;
  }

 private:
  const std::vector<FlowPtr>& flows_;
  size_t components_;
  Lengths lengths_;
  const std::string& name_;  // of the part
  std::vector<std::unique_ptr<Cursor>> cursors_;
};

/// Sample k consists of sample k of each part. The parts keep the order of their sources; if these shuffle,
/// one permutation of the joined samples replaces theirs.
class JoinedFlow final : public Flow {
 public:
  JoinedFlow(std::vector<FlowPtr> flows, Lengths lengths, StageContext context, std::string owner)
      : flows_(std::move(flows)), lengths_(lengths), context_(std::move(context)), owner_(std::move(owner)) {
    for (const FlowPtr& flow : flows_) {
      if (flow->access() == Access::kFiltered)
        throw rejection(
            "one of its flows drops samples, so the others would lose their partners; drop samples after the "
            "JoinData");
    }
    spec_ = joined_spec();
    is_shuffled_ = !context_.keeps_order && one_order();
  }

  const Spec& spec() const override { return spec_; }
  Access access() const override {
    const bool indexed = std::all_of(flows_.begin(), flows_.end(),
                                     [](const auto& f) { return f->access() == Access::kIndexed; });
    return indexed ? Access::kIndexed : Access::kSequential;
  }
  Seek seek() const override {
    Seek worst = Seek::kExact;
    for (const FlowPtr& flow : flows_) worst = std::max(worst, flow->seek());
    return worst;
  }
  std::optional<int64_t> size() const override {
    int64_t least = kEndless;
    for (const FlowPtr& flow : flows_) {
      const auto size = flow->size();
      if (!size) return std::nullopt;
      least = std::min(least, *size);
    }
    return least;
  }
  int64_t places() const override { return *size(); }
  void prepare() const override {
    for (const FlowPtr& flow : flows_) flow->prepare();
    if (lengths_ == Lengths::kEqual) require_one_length();
    if (is_shuffled_ && size() == kEndless) {
      throw rejection(
          "flows that never end cannot be shuffled together; put RepeatedData after the JoinData");
    }
  }
  std::vector<const Source*> sources() const override {
    std::vector<const Source*> all;
    for (const FlowPtr& flow : flows_) {
      const std::vector<const Source*> part = flow->sources();
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }
  std::map<std::string, State> learned() const override {
    std::map<std::string, State> all;
    for (const FlowPtr& flow : flows_) all.merge(flow->learned());  // their names differ
    return all;
  }
  std::string file_of(const SampleId& id) const override { return flows_.front()->file_of(id); }
  bool get(const PassKey& pass, int64_t place, Datapoint& out) const override {
    const PartTimer timer(context_.name, &out);
    if (is_shuffled_) {
      const Permutation order(static_cast<uint64_t>(places()), pass.key(context_.key));
      place = static_cast<int64_t>(order(static_cast<uint64_t>(place)));
    }
    for (size_t i = 0; i < flows_.size(); ++i) flows_[i]->get(pass, place, out.child(i));
    out.resize(spec_.size());
    gather(out, flows_);
    return true;
  }
  std::unique_ptr<Cursor> open(const PassKey& pass) const override {
    if (access() == Access::kIndexed) return cursor_by_place(*this, pass);
    return std::make_unique<JoinedCursor>(flows_, spec_.size(), lengths_, pass, context_.name);
  }

 private:
  ConfigError rejection(const std::string& what) const { return {context_.position, owner_ + ": " + what}; }

  /// A name that an earlier flow already has gets the number of its flow, from 1: image, image_2. Errors:
  /// ConfigError if that name is also taken.
  Spec joined_spec() const {
    std::vector<ComponentSpec> all;
    for (size_t part = 0; part < flows_.size(); ++part) {
      const size_t earlier = all.size();
      for (const ComponentSpec& component : flows_[part]->spec()) {
        all.push_back(component);
        std::string& name = all.back().name;
        const auto end = all.begin() + static_cast<std::ptrdiff_t>(earlier);
        if (!Spec(std::vector(all.begin(), end)).find(name)) continue;
        name += "_" + std::to_string(part + 1);
      }
      for (size_t i = earlier; i < all.size(); ++i) {
        const std::string& name = all[i].name;
        const auto same = [&name](const ComponentSpec& other) { return other.name == name; };
        if (std::count_if(all.begin(), all.end(), same) < 2) continue;
        throw rejection("two of its flows have a component '" + flows_[part]->spec()[i - earlier].name +
                        "', and the component of flow " + std::to_string(part + 1) +
                        " cannot be renamed to '" + name +
                        "', because that name is taken; add RenameComponents: {names: {" +
                        flows_[part]->spec()[i - earlier].name + ": NEW_NAME}} to that flow");
      }
    }
    return Spec(std::move(all));
  }

  /// Whether the samples have a new order in each pass. Errors: ConfigError if the parts disagree.
  bool one_order() const {
    size_t shuffled = 0;
    size_t in_order = 0;
    for (const Source* source : sources()) {
      const auto* indexed = dynamic_cast<const RandomAccessSource*>(source);
      ++(indexed != nullptr && indexed->shuffled() ? shuffled : in_order);
    }
    if (shuffled > 0 && in_order > 0) {
      throw rejection(
          "some of its sources shuffle and others keep their order, so samples would lose their "
          "partners; set shuffle: false in those that shuffle (LocallyShuffleData after the "
          "JoinData shuffles all parts together)");
    }
    if (shuffled > 0 && access() == Access::kSequential) {
      throw rejection(
          "one of its flows can only be read in order, so the sources cannot shuffle; set shuffle: false in "
          "them, and add LocallyShuffleData after the JoinData");
    }
    return shuffled > 0;
  }

  void require_one_length() const {
    std::vector<std::string> lengths;
    bool are_equal = true;
    std::optional<int64_t> first;
    for (const FlowPtr& flow : flows_) {
      const auto size = flow->size();
      if (!size || size == kEndless) continue;
      are_equal = are_equal && (!first || first == size);
      if (!first) first = size;
      lengths.push_back(with_thousands(*size));
    }
    if (are_equal) return;
    throw rejection("its flows have different lengths (" + join(lengths, ", ") + " samples)" + kShortestFix);
  }

  std::vector<FlowPtr> flows_;
  Lengths lengths_;
  StageContext context_;
  std::string owner_;
  Spec spec_;
  bool is_shuffled_ = false;
};

}  // namespace

FlowPtr joined_flow(std::vector<FlowPtr> flows, Lengths lengths, const StageContext& context,
                    const std::string& owner) {
  return std::make_shared<JoinedFlow>(std::move(flows), lengths, context, owner);
}

}  // namespace tpack
