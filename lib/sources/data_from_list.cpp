#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/digest.h"
#include "core/error.h"
#include "core/registry.h"
#include "core/text.h"
#include "dataflow/datapoint.h"
#include "dataflow/source.h"

namespace tpack {
namespace {

/// Samples of a config, by component.
struct WrittenSamples {
  ConfigNode node = ConfigNode::list({});
};

}  // namespace

template <>
struct Codec<WrittenSamples> {
  static FieldType type() { return FieldType::any("a list of samples, such as [{x: [1, 2], label: 0}]"); }
  static std::optional<WrittenSamples> parse(const ConfigNode& node, Reader& reader) {
    if (!node.is_list() || node.size() == 0) {
      reader.wrong_type(node, type().str());
      return std::nullopt;
    }
    return WrittenSamples{node};
  }
  static ConfigNode dump(const WrittenSamples& samples) { return samples.node; }
};

namespace {

struct DataFromListParams {
  WrittenSamples samples;
  bool shuffle = true;
};

/// Numbers of one component of one sample.
struct WrittenNumbers {
  std::vector<int64_t> sizes;
  std::vector<double> values;
  bool has_fractions = false;
};

ConfigError bad_list(const ConfigNode& node, const std::string& text) {
  return {node.position(), "DataFromList: " + text};
}

/// Appends the numbers of a list of lists at `depth`. Errors: ConfigError for anything else, and for lists of
/// different lengths.
void read_numbers(const ConfigNode& node, size_t depth, WrittenNumbers& out) {
  if (node.is_list()) {
    if (depth == Shape::kMaxRank)
      throw bad_list(node, "more than " + std::to_string(Shape::kMaxRank) + " lists inside one another");
    if (out.sizes.size() == depth && out.values.empty())
      out.sizes.push_back(static_cast<int64_t>(node.size()));
    else if (depth >= out.sizes.size() || out.sizes[depth] != static_cast<int64_t>(node.size()))
      throw bad_list(node, "lists of one component of one sample have different lengths");
    for (const ConfigNode& item : node.items()) read_numbers(item, depth + 1, out);
    return;
  }
  if (!node.is_number() || depth != out.sizes.size())
    throw bad_list(node, "expected a number or a list of numbers, found " + node.describe() +
                             (node.is_string() ? "; write class numbers from 0 instead of names" : ""));
  out.has_fractions = out.has_fractions || node.kind() == ConfigNode::Kind::kFloat;
  out.values.push_back(node.as_double());
}

/// Samples in memory, from the config itself.
class DataFromList final : public RandomAccessSource, public SourceFiles {
 public:
  using Params = DataFromListParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Samples that the config itself contains, for small data and for tests. A component is int32 "
               "if "
               "all of its numbers are integers, else float32; its lists may have different lengths in "
               "different samples (PadBatch).")
        .example("DataFromList: {samples: [{x: [1, 2], label: 0}, {x: [3, 5], label: 1}]}")
        .field("samples", &Params::samples,
               "the samples, each a map from component to number or list; all have the same components")
        .required()
        .shorthand()
        .field("shuffle", &Params::shuffle, "use a new order in each pass");
  }
  explicit DataFromList(const Params& p) : shuffle_(p.shuffle) {
    fingerprint_ = tpack::digest_of(to_json(p.samples.node));
    for (const ConfigNode& sample : p.samples.node.items()) add(sample);
    set_spec();
  }

  Spec spec() const override { return spec_; }
  int64_t size() const override { return std::ssize(samples_); }
  bool shuffled() const override { return shuffle_; }
  std::string fingerprint() const override { return fingerprint_; }
  void get(int64_t index, const SampleKey& /*key*/, Datapoint& out) const override {
    const std::vector<WrittenNumbers>& sample = samples_[static_cast<size_t>(index)];
    for (size_t i = 0; i < sample.size(); ++i) {
      const Tensor& tensor = out.renew(i, {spec_[i].tensor.dtype, Shape(sample[i].sizes)});
      if (tensor.dtype() == DType::kInt32)
        std::transform(sample[i].values.begin(), sample[i].values.end(), tensor.data<int32_t>(),
                       [](double value) { return static_cast<int32_t>(value); });
      else
        std::transform(sample[i].values.begin(), sample[i].values.end(), tensor.data<float>(),
                       [](double value) { return static_cast<float>(value); });
    }
  }

 private:
  void add(const ConfigNode& sample) {
    if (!sample.is_map() || sample.size() == 0)
      throw bad_list(sample, "a sample is a map such as {x: [1, 2], label: 0}, found " + sample.describe());
    if (samples_.empty())
      for (const auto& [name, value, position] : sample.entries()) names_.push_back(name);
    std::vector<WrittenNumbers>& numbers = samples_.emplace_back();
    for (const std::string& name : names_) {
      const ConfigNode* value = sample.find(name);
      if (value == nullptr)
        throw bad_list(sample, "sample " + std::to_string(samples_.size()) + " has no '" + name +
                                   "'; all samples need the components of the first one");
      read_numbers(*value, 0, numbers.emplace_back());
    }
    for (const auto& [name, value, position] : sample.entries())
      if (std::find(names_.begin(), names_.end(), name) == names_.end())
        throw bad_list(value, "sample " + std::to_string(samples_.size()) + " has '" + name +
                                  "', but the first one has only " + join(names_, ", "));
  }
  /// Integers are int32; sizes that differ between samples are unknown.
  void set_spec() {
    std::vector<ComponentSpec> components;
    for (size_t i = 0; i < names_.size(); ++i) {
      bool are_integers = true;
      std::vector<int64_t> sizes = samples_[0][i].sizes;
      for (size_t k = 0; k < samples_.size(); ++k) {
        const WrittenNumbers& numbers = samples_[k][i];
        if (numbers.sizes.size() != sizes.size())
          throw ConfigError("DataFromList: '" + names_[i] + "' of sample " + std::to_string(k + 1) +
                            " has another number of axes than that of the first one");
        for (size_t axis = 0; axis < sizes.size(); ++axis)
          if (sizes[axis] != numbers.sizes[axis]) sizes[axis] = Shape::kUnknown;
        are_integers = are_integers && !numbers.has_fractions &&
                       std::all_of(numbers.values.begin(), numbers.values.end(), fits_int32);
      }
      components.push_back({names_[i], {are_integers ? DType::kInt32 : DType::kFloat32, Shape(sizes)}});
    }
    spec_ = Spec(std::move(components));
  }
  static bool fits_int32(double value) {
    return value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max();
  }

  bool shuffle_;
  std::string fingerprint_;
  std::vector<std::string> names_;
  std::vector<std::vector<WrittenNumbers>> samples_;
  Spec spec_;
};

TPACK_REGISTER(Source, DataFromList, "DataFromList");

}  // namespace
}  // namespace tpack
