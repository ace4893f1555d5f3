#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/hdf5.h"
#include "core/error.h"
#include "core/text.h"
#include "dataflow/datapoint.h"
#include "sources/array_of_component.h"

// The samples of an open HDF5 file. Callers hold hdf5_mutex().
namespace tpack {

inline constexpr int64_t kMostBytesOfSample = int64_t{1} << 30;

/// Passes a result on. Errors: DataError "WHERE: WHAT: cause" if it is negative.
template <class T>
T required(T result, const std::string& where, const std::string& what) {
  if (result >= 0) return result;
  const std::string cause = hdf5::cause_of_failure();
  throw DataError(where, what + (cause.empty() ? "" : ": " + cause));
}

/// Reads one sample in the type `From` and converts it. Errors: DataError for numbers that do not fit.
template <class From, class To>
void read_converted(hid_t dataset, hid_t rows, hid_t memory_type, const std::string& where,
                    const Tensor& out) {
  const hdf5::Handle space(
      H5Screate_simple(1, std::array{static_cast<hsize_t>(out.elements())}.data(), nullptr), H5Sclose);
  const auto read = [&](void* to) {
    required(H5Dread(dataset, memory_type, space.get(), rows, H5P_DEFAULT, to), where, "cannot be read");
  };
  if constexpr (std::is_same_v<From, To>) {
    read(out.raw());
  } else {
    std::vector<From> values(static_cast<size_t>(out.elements()));
    read(values.data());
    std::transform(values.begin(), values.end(), out.data<To>(), [](From value) {
      bool fits = true;
      if constexpr (std::is_integral_v<From>)
        fits = std::in_range<To>(value);
      else
        fits = !std::isfinite(value) || std::abs(value) <= std::numeric_limits<To>::max();
      if (fits) return static_cast<To>(value);
      const std::string number = std::is_integral_v<From> ? std::to_string(value) : shortest(double(value));
      throw DataError("the number " + number + " does not fit into " +
                      (std::is_integral_v<To> ? "int32" : "float32"));
    });
  }
}

/// What a dataset holds.
enum class Holds : uint8_t {
  kSamples,   // its first axis counts samples
  kOneSample  // all of it is one
};

/// A dataset of numbers. Callers hold hdf5_mutex().
class SampleSet {
 public:
  /// Errors: DataError if its elements are not numbers, or if it has no samples.
  SampleSet(hid_t file, std::string name, const std::string& path, bool may_be_elsewhere,
            Holds holds = Holds::kSamples)
      : where_(path + ": dataset '" + name + "'"),
        name_(std::move(name)),
        holds_(holds),
        dataset_(opened(file)) {
    if (!may_be_elsewhere) reject_elsewhere();
    const hdf5::Handle space(H5Dget_space(dataset_.get()), H5Sclose);
    const int rank = required(H5Sget_simple_extent_ndims(space.get()), where_, "has no shape");
    if (rank == 0 && holds_ == Holds::kSamples)
      throw DataError(where_, "is a single number; its first axis must count samples");
    if (rank > static_cast<int>(Shape::kMaxRank))
      throw DataError(where_, "has " + std::to_string(rank) + " axes; at most 8 are supported");
    sizes_.resize(static_cast<size_t>(rank));
    required(H5Sget_simple_extent_dims(space.get(), sizes_.data(), nullptr), where_, "has no shape");
    std::vector<int64_t> of_sample;
    int64_t elements = 1;
    for (size_t axis = holds_ == Holds::kSamples ? 1 : 0; axis < sizes_.size(); ++axis) {
      if (sizes_[axis] > kMostBytesOfSample || elements * int64_t(sizes_[axis]) > kMostBytesOfSample / 8)
        throw DataError(where_, "has samples of more than 128 million numbers");
      elements *= static_cast<int64_t>(sizes_[axis]);
      of_sample.push_back(static_cast<int64_t>(sizes_[axis]));
    }
    if (samples() == 0 || elements == 0) throw DataError(where_, "has no elements");
    spec_ = {set_type(), Shape(of_sample)};
    if (is_image_spec(spec_) && spec_.shape.rank() == 2) spec_.shape = {spec_.shape[0], spec_.shape[1], 1};
  }

  const std::string& name() const { return name_; }
  const TensorSpec& spec() const { return spec_; }
  int64_t samples() const { return holds_ == Holds::kSamples ? static_cast<int64_t>(sizes_[0]) : 1; }

  void get(int64_t index, const Tensor& out) const {
    const hdf5::Handle rows = selected(index, 1);
    read_(dataset_.get(), rows.get(), memory_type_->get(), where_, out);
  }

  /// The numbers of the first samples in the file, if they are doubles: about 4,096.
  std::vector<double> first_doubles() const {
    if (read_ != &read_converted<double, float>) return {};
    const auto elements = static_cast<hsize_t>(spec_.shape.elements());
    const hsize_t first = std::clamp<hsize_t>(4096 / elements, 1, static_cast<hsize_t>(samples()));
    const hdf5::Handle rows = selected(0, first);
    const hsize_t count = first * elements;
    const hdf5::Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
    std::vector<double> numbers(count);
    required(H5Dread(dataset_.get(), H5T_NATIVE_DOUBLE, space.get(), rows.get(), H5P_DEFAULT, numbers.data()),
             where_, "cannot be read");
    return numbers;
  }

 private:
  /// A file of another user must not bring what this user alone may read.
  void reject_elsewhere() const {
    const hdf5::Handle creation(H5Dget_create_plist(dataset_.get()), H5Pclose);
    if (H5Pget_layout(creation.get()) == H5D_VIRTUAL || H5Pget_external_count(creation.get()) > 0)
      throw DataError(where_, "has its numbers in other files; set other_files: true if you trust this file");
  }

  using Read = void (*)(hid_t dataset, hid_t rows, hid_t memory_type, const std::string& where,
                        const Tensor& out);

  /// The file's space with these samples.
  hdf5::Handle selected(int64_t first, hsize_t samples) const {
    hdf5::Handle rows(H5Dget_space(dataset_.get()), H5Sclose);
    if (holds_ == Holds::kOneSample) return rows;
    std::vector<hsize_t> begin(sizes_.size(), 0);
    std::vector<hsize_t> count = sizes_;
    begin[0] = static_cast<hsize_t>(first);
    count[0] = samples;
    required(H5Sselect_hyperslab(rows.get(), H5S_SELECT_SET, begin.data(), nullptr, count.data(), nullptr),
             where_, "cannot be read");
    return rows;
  }

  hdf5::Handle opened(hid_t file) const {
    // Rows in a new order come from many chunks: the most recent compressed chunks stay unpacked.
    constexpr size_t kCacheBytes = size_t{64} << 20U;
    constexpr size_t kSlots = 12421;
    const hdf5::Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
    H5Pset_chunk_cache(access.get(), kSlots, kCacheBytes, H5D_CHUNK_CACHE_W0_DEFAULT);
    return {required(H5Dopen2(file, name_.c_str(), access.get()), where_, "cannot be opened"), H5Dclose};
  }

  DType set_type() {
    const hdf5::Handle type(H5Dget_type(dataset_.get()), H5Tclose);
    const H5T_class_t kind = H5Tget_class(type.get());
    const size_t bytes = H5Tget_size(type.get());
    const auto use = [&](hid_t memory_type, Read read, DType dtype) {
      memory_type_.emplace(H5Tcopy(memory_type), H5Tclose);
      read_ = read;
      return dtype;
    };
    if (kind == H5T_FLOAT && bytes <= 4)
      return use(H5T_NATIVE_FLOAT, read_converted<float, float>, DType::kFloat32);
    if (kind == H5T_FLOAT) return use(H5T_NATIVE_DOUBLE, read_converted<double, float>, DType::kFloat32);
    if (kind == H5T_ENUM && bytes == 1)  // of h5py: FALSE and TRUE
      return use(type.get(), read_converted<bool, bool>, DType::kBool);
    if (kind != H5T_INTEGER)
      throw DataError(where_, std::string("has ") +
                                  (kind == H5T_STRING ? "texts" : "elements that are not numbers") +
                                  "; supported are bool, integers and floats");
    const bool is_signed = H5Tget_sign(type.get()) != H5T_SGN_NONE;
    if (bytes == 1 && !is_signed)
      return use(H5T_NATIVE_UINT8, read_converted<uint8_t, uint8_t>, DType::kUInt8);
    if (bytes < 4 || (bytes == 4 && is_signed))
      return use(H5T_NATIVE_INT32, read_converted<int32_t, int32_t>, DType::kInt32);
    if (is_signed) return use(H5T_NATIVE_INT64, read_converted<int64_t, int32_t>, DType::kInt32);
    return use(H5T_NATIVE_UINT64, read_converted<uint64_t, int32_t>, DType::kInt32);
  }

  std::string where_;
  std::string name_;
  Holds holds_;
  hdf5::Handle dataset_;
  std::vector<hsize_t> sizes_;
  TensorSpec spec_;
  std::optional<hdf5::Handle> memory_type_;
  Read read_ = nullptr;
};

/// A group with a dataset for each sample, in the order of their names; sizes may differ. Callers hold
/// hdf5_mutex().
class SampleGroup {
 public:
  /// `members`: the names of its datasets, without the group. Errors: as SampleSet, for some evenly spaced
  /// ones.
  SampleGroup(hid_t file, std::string name, std::vector<std::string> members, std::string path,
              bool may_be_elsewhere)
      : file_(file),
        name_(std::move(name)),
        members_(std::move(members)),
        path_(std::move(path)),
        may_be_elsewhere_(may_be_elsewhere) {
    constexpr size_t kMostProbes = 16;
    const size_t probes = std::min(members_.size(), kMostProbes);
    for (size_t i = 0; i < probes; ++i) {
      const SampleSet set = opened(probes == 1 ? 0 : i * (members_.size() - 1) / (probes - 1));
      if (i == 0) spec_ = set.spec();
      reject_other(set);
      for (int axis = 0; axis < static_cast<int>(spec_.shape.rank()); ++axis)
        if (spec_.shape[axis] != set.spec().shape[axis])
          spec_.shape = spec_.shape.with(axis, Shape::kUnknown);
    }
  }

  const std::string& name() const { return name_; }
  const TensorSpec& spec() const { return spec_; }
  const std::vector<std::string>& members() const { return members_; }
  void get(int64_t index, size_t component, Datapoint& out) const {
    const SampleSet set = opened(static_cast<size_t>(index));
    reject_other(set);
    set.get(0, out.renew(component, set.spec()));
  }

 private:
  SampleSet opened(size_t member) const {
    return {file_, name_ + "/" + members_[member], path_, may_be_elsewhere_, Holds::kOneSample};
  }
  void reject_other(const SampleSet& set) const {
    if (set.spec().dtype == spec_.dtype && set.spec().shape.rank() == spec_.shape.rank()) return;
    throw DataError("dataset '" + set.name() + "' is " + set.spec().str() + "; others of its group are " +
                    spec_.str());
  }

  hid_t file_;
  std::string name_;
  std::vector<std::string> members_;
  std::string path_;
  bool may_be_elsewhere_;
  TensorSpec spec_;
};

/// The samples of a component: a dataset of all, or a group with a dataset for each.
class Samples {
 public:
  explicit Samples(std::unique_ptr<SampleSet> set) : set_(std::move(set)) {}
  explicit Samples(std::unique_ptr<SampleGroup> group) : group_(std::move(group)) {}

  const std::string& name() const { return set_ != nullptr ? set_->name() : group_->name(); }
  const TensorSpec& spec() const { return set_ != nullptr ? set_->spec() : group_->spec(); }
  int64_t samples() const { return set_ != nullptr ? set_->samples() : std::ssize(group_->members()); }
  /// The names of the samples; null if they have numbers.
  const std::vector<std::string>* members() const { return group_ == nullptr ? nullptr : &group_->members(); }
  std::vector<double> first_doubles() const {
    return set_ != nullptr ? set_->first_doubles() : std::vector<double>{};
  }
  void get(int64_t index, size_t component, Datapoint& out) const {
    if (set_ != nullptr) return set_->get(index, out.renew(component, set_->spec()));
    group_->get(index, component, out);
  }

 private:
  std::unique_ptr<SampleSet> set_;
  std::unique_ptr<SampleGroup> group_;
};

}  // namespace tpack
