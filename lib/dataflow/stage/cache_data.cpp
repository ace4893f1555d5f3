#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

#include "core/digest.h"
#include "core/error.h"
#include "core/map_in_order.h"
#include "core/registry.h"
#include "core/rng.h"
#include "core/text.h"
#include "dataflow/batched_flow.h"
#include "dataflow/cache_file.h"
#include "dataflow/datapoint.h"
#include "dataflow/map_effects.h"
#include "dataflow/part_times.h"
#include "dataflow/sample_error.h"
#include "dataflow/stage.h"
#include "system/log.h"
#include "system/machine.h"
#include "system/mapping_guard.h"

namespace tpack {
namespace {

struct CacheDataParams {
  bool shuffle = false;
  Ref<Path> dir;
  std::optional<double> memory_mb;
};

/// The memory that samples may use. Threads: any number at once.
class SampleBudget {
 public:
  SampleBudget(const CacheDataParams& p, Position position)
      : position_(std::move(position)), is_set_(p.memory_mb.has_value()) {
    constexpr double kMegabyte = 1e6;
    if (is_set_)
      most_ = static_cast<uint64_t>(*p.memory_mb * kMegabyte);
    else
      most_ = available_memory().value_or(2 * most_) / 2;
  }

  /// Errors: ResourceError if the sample does not fit any more.
  void take(size_t sample) {
    const uint64_t bytes = used_ += sample + sizeof(std::string);
    const int64_t samples = ++samples_;
    if (bytes <= most_) return;
    throw ResourceError(Problem{
        position_,
        "CacheData: " + with_thousands(samples) + " samples need more than " + human_bytes(most_) +
            " of memory, " +
            (is_set_ ? "the limit of memory_mb" : "half of what was free; set memory_mb to allow more") +
            "; to keep the samples in a file, set dir: FOLDER"}
                            .str());
  }

 private:
  Position position_;
  bool is_set_;
  uint64_t most_ = uint64_t{1} << 62U;  // bytes
  std::atomic<uint64_t> used_ = 0;
  std::atomic<int64_t> samples_ = 0;
};

/// Samples in memory, which any number of threads store and read.
class StoredSamples {
 public:
  explicit StoredSamples(int64_t size) : samples_(static_cast<size_t>(size)) {}
  ~StoredSamples() {
    for (const auto& sample : samples_) delete sample.load();
  }
  StoredSamples(const StoredSamples&) = delete;
  StoredSamples& operator=(const StoredSamples&) = delete;

  int64_t size() const { return std::ssize(samples_); }
  /// Null if it is not stored yet.
  const std::string* get(int64_t index) const { return samples_[static_cast<size_t>(index)].load(); }
  /// The first one stays; false for others.
  bool put(int64_t index, std::string sample) {
    auto own = std::make_unique<const std::string>(std::move(sample));
    const std::string* none = nullptr;
    if (!samples_[static_cast<size_t>(index)].compare_exchange_strong(none, own.get())) return false;
    [[maybe_unused]] const std::string* const stored = own.release();
    return true;
  }

 private:
  std::vector<std::atomic<const std::string*>> samples_;
};

/// Every pass has the samples of the first pass with the seed 0, so they do not depend on the run, on the
/// place where it is resumed, or on the number of workers. A sample that cannot be read is read again each
/// time. Flows that can be read by index are stored as they are read (in memory), or when the first sample is
/// read (on the disk); others when they are prepared, because their length is then known, and without bad
/// samples, if on_error allows some.
class CachedFlow final : public WrappedFlow {
 public:
  CachedFlow(FlowPtr up, CacheDataParams p, StageContext context)
      : WrappedFlow(std::move(up)), p_(std::move(p)), context_(std::move(context)) {}

  Access access() const override { return Access::kIndexed; }
  Seek seek() const override { return Seek::kExact; }
  std::optional<int64_t> size() const override {
    const int64_t known = size_;
    return known >= 0 ? std::optional(known) : up().size();
  }
  int64_t places() const override { return std::max<int64_t>(size_, 0); }
  void prepare() const override {
    up().prepare();
    const std::lock_guard lock(storing_);
    if (size_ >= 0) return;
    if (up().size() == kEndless)
      throw ConfigError(context_.position,
                        "CacheData: the flow before it never ends; put RepeatedData after the CacheData");
    warn();
    if (p_.dir.empty()) budget_ = std::make_unique<SampleBudget>(p_, context_.position);
    if (by_index()) {
      if (p_.dir.empty()) stored_ = std::make_unique<StoredSamples>(up().places());
      size_ = up().places();
    } else if (p_.dir.empty()) {
      read_into_memory();
      size_ = stored_->size();
    } else {
      open_file();
      size_ = file_->size();
    }
  }
  bool get(const PassKey& pass, int64_t place, Datapoint& out) const override {
    const PartTimer timer(context_.name, &out);
    int64_t index = place;
    if (p_.shuffle && !context_.keeps_order)
      index = static_cast<int64_t>(
          Permutation(static_cast<uint64_t>(places()), pass.key(context_.key))(static_cast<uint64_t>(place)));
    get_stored(pass, index, out);
    const SampleId stored = out.id();
    out.set_id({pass.pass, stored.index, stored.repeat + (pass.repeat << 32U)});
    return true;
  }
  std::unique_ptr<Cursor> open(const PassKey& pass) const override { return cursor_by_place(*this, pass); }

 private:
  bool by_index() const { return up().access() == Access::kIndexed; }

  void get_stored(const PassKey& pass, int64_t index, Datapoint& out) const {
    if (!p_.dir.empty()) {
      if (!get_from_file(opened_file(), {pass.pass, index, pass.repeat}, out)) read(index, out);
    } else if (const std::string* bytes = stored_->get(index); bytes != nullptr) {
      read_sample(*bytes, spec(), out);
    } else {
      std::string sample = read(index, out);
      const size_t size = sample.size();
      if (stored_->put(index, std::move(sample))) budget_->take(size);
    }
  }
  /// False for a sample that could not be read when the file was written.
  bool get_from_file(const CacheFile& file, const SampleId& id, Datapoint& out) const {
    try {
      const auto bytes = file.sample(id.index);
      if (!bytes && !by_index()) throw DataError("the cache is damaged; delete it");
      if (bytes) read_sample(*bytes, spec(), out);
      check_mapped_files();
      return bytes.has_value();
    } catch (...) {
      rethrow_with_sample(context_.place_of(id, path_));
    }
  }
  /// Reads a sample from the flow before it; returns the bytes to store.
  std::string read(int64_t index, Datapoint& out) const {
    up().get({}, index, out);
    return bytes_of_sample(out);
  }
  std::string bytes_of_sample(Datapoint& sample) const {
    try {
      return sample_bytes(sample, spec());
    } catch (...) {
      rethrow_with_sample(context_.place_of(sample.id(), up().file_of(sample.id())));
    }
  }

  void read_into_memory() const {
    std::vector<std::string> all;
    const auto cursor = up().open({});
    for (Datapoint d; cursor->next(d);) {
      all.push_back(bytes_of_sample(d));
      budget_->take(all.back().size());
    }
    stored_ = std::make_unique<StoredSamples>(std::ssize(all));
    for (size_t i = 0; i < all.size(); ++i) stored_->put(static_cast<int64_t>(i), std::move(all[i]));
  }

  const CacheFile& opened_file() const {
    if (const CacheFile* file = ready_; file != nullptr) return *file;
    const std::lock_guard lock(storing_);
    open_file();
    return *file_;
  }
  /// With the lock.
  void open_file() const {
    if (file_ != nullptr) return;
    const std::string dir = resolved_path(p_.dir);
    std::error_code failure;
    std::filesystem::create_directories(dir, failure);
    if (failure)
      throw ConfigError(p_.dir.position, "CacheData: '" + dir + "' cannot be made: " + failure.message());
    // The name depends on the config alone, so that files that do not fit the data any more are replaced.
    path_ = (std::filesystem::path(dir) / (digest_of(context_.before).substr(0, kNameDigits) + ".cache"))
                .string();
    const std::string digest = digest_of_samples();
    const CacheLock lock(path_);
    std::string stale;
    file_ = CacheFile::open(path_, digest, stale);
    if (file_ == nullptr) {
      log::info(context_.position.str() + ": CacheData: writing " + path_ +
                (stale.empty() ? "" : " again, because " + stale));
      CacheFile::write(path_, digest, [this](const CacheFile::Add& add) { read_all(add); });
      file_ = CacheFile::open(path_, digest, stale);
    } else if (std::ranges::any_of(up().sources(), [](const Source* source) {
                 return source->part<SourceFiles>().come_from_outside();
               })) {
      log::warning(
          context_.position.str() + ": CacheData: reads " + path_ +
          ", written by an earlier run; if the program or the server gives other samples now, delete it");
    }
    if (file_ == nullptr || (by_index() && file_->size() != up().places())) {
      file_ = nullptr;
      throw DataError(path_, "does not have the samples that were written; delete it");
    }
    ready_ = file_.get();
  }
  void read_all(const CacheFile::Add& add) const {
    if (!by_index()) {
      const auto cursor = up().open({});
      for (Datapoint d; cursor->next(d);) add(bytes_of_sample(d));
      return;
    }
    using Sample = std::optional<std::string>;
    int64_t next = 0;
    MapInOrder<int64_t, Sample>(
        [&]() -> std::optional<int64_t> {
          return next < up().places() ? std::optional(next++) : std::nullopt;
        },
        [this](int64_t index) -> Sample {
          try {
            Datapoint d;
            return read(index, d);
          } catch (const SampleError& error) {
            if (error.kind() != ErrorKind::kData) throw;
            return std::nullopt;  // its reader gets the error
          }
        },
        [&](const Sample& sample) { add(sample); })
        .run("tpack-cache", available_processors());
  }

  /// Of everything that the samples depend on: components and their parameters, files, learned values.
  std::string digest_of_samples() const {
    Digest digest;
    digest.add(context_.before);
    for (const ComponentSpec& component : spec())
      digest.add("\n" + component.name + " " + component.tensor.str() + " " + join(component.classes, "\n"));
    for (const Source* source : up().sources()) digest.add("\n" + source->part<SourceFiles>().fingerprint());
    for (const auto& [name, state] : up().learned()) {
      digest.add("\n" + name + " " + state.to_json());
      for (const auto& [part, tensor] : state.tensors())
        digest.add(part + std::string(reinterpret_cast<const char*>(tensor.raw()), tensor.bytes()));
    }
    return digest.text();
  }

  void warn() const {
    const std::string where = context_.position.str() + ": CacheData: ";
    if (const auto map = random_map(up()))
      log::warning(
          where + *map +
          " draws random numbers, and each pass has the same ones, because it comes before the cache; "
          "put it after CacheData");
    const std::vector<const Source*> sources = up().sources();
    const bool is_shuffled = std::any_of(sources.begin(), sources.end(), [](const Source* source) {
      const auto* indexed = dynamic_cast<const RandomAccessSource*>(source);
      return indexed != nullptr && indexed->shuffled();
    });
    if (is_shuffled && !p_.shuffle && !context_.keeps_order)
      log::warning(where +
                   "the source shuffles, but each pass has the order of the first one; write "
                   "CacheData: {shuffle: true}, or set shuffle: false in the source");
  }

  static constexpr size_t kNameDigits = 16;

  CacheDataParams p_;
  StageContext context_;
  mutable std::mutex storing_;
  mutable std::atomic<int64_t> size_ = -1;        // -1: not prepared
  mutable std::unique_ptr<SampleBudget> budget_;  // of stored_
  mutable std::unique_ptr<StoredSamples> stored_;
  mutable std::string path_;  // of the file
  mutable std::unique_ptr<CacheFile> file_;
  mutable std::atomic<const CacheFile*> ready_ = nullptr;  // file_, to be read without the lock
};

/// Source: tensorpack dataflow/common.py, CacheData; dataflow/raw.py, DiskCacheData.
class CacheData final : public Stage {
 public:
  using Params = CacheDataParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Keeps the samples of the first pass, so that later passes do not read and map them again: in "
               "memory, or, with `dir`, in a file that later runs use too. Put random maps after it. Images "
               "are stored as pixels.")
        .example("CacheData: {shuffle: true}")
        .field("shuffle", &Params::shuffle,
               "true: each pass has a new order; false: each pass has the order of the first one")
        .field("dir", &Params::dir,
               "the folder of the file; it is made if it is absent, and the file is written again if the "
               "components before this stage or the files that they read have changed; default: in memory")
        .field("memory_mb", &Params::memory_mb, between(1, 1e9),
               "without `dir`, megabytes that the samples may use: more are an error; default: half of the "
               "memory that is free when the flow is opened");
  }
  explicit CacheData(Params p) : p_(std::move(p)) {
    if (p_.memory_mb && !p_.dir.empty())
      throw ConfigError(p_.dir.position,
                        "CacheData: 'memory_mb' limits samples in memory, but 'dir' keeps them in a file; "
                        "leave out one of them");
  }

  bool keeps_samples() const override { return true; }
  FlowPtr wrap(FlowPtr up, const StageContext& context) const override {
    if (batched_of(*up) != nullptr)
      throw ConfigError(context.position,
                        "CacheData: the flow has batches; put CacheData before them, so that each pass can "
                        "have other batches");
    return std::make_shared<CachedFlow>(std::move(up), p_, context);
  }

 private:
  Params p_;
};

TPACK_REGISTER(Stage, CacheData, "CacheData");

}  // namespace
}  // namespace tpack
