#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock-more-matchers.h>
#include <gtest/gtest.h>

#include "core/config_node.h"
#include "core/registry.h"
#include "dataflow/data_flow.h"
#include "dataflow/datapoint.h"
#include "dataflow/map.h"
#include "dataflow/source.h"
#include "dataflow/stage.h"
#include "support/errors.h"
#include "support/temporary_folder.h"

namespace tpack {

using Bytes = std::vector<uint8_t>;
using Integers = std::vector<int64_t>;
using Numbers = std::vector<double>;
using Rows = std::vector<Numbers>;
using Texts = std::vector<std::string>;

inline ConfigNode item(const std::string& name, ConfigNode params) {
  return ConfigNode::map({{name, std::move(params)}});
}
inline ConfigNode list(std::vector<ConfigNode> items) { return ConfigNode::list(std::move(items)); }

/// A flow of the text of `file`; `fit`: what it follows.
DataFlow yaml_flow(const std::string& yaml, const std::shared_ptr<Fit>& fit = nullptr,
                   const std::string& file = "flow.yaml");

/// A folder that is removed with the test.
class TempFolder : public TemporaryFolder {
 public:
  std::string path(const std::string& name = "") const { return name.empty() ? str() : *this / name; }
  std::string write(const std::string& name, const Bytes& bytes) const {
    return write_text(name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  std::string write_text(const std::string& name, std::string_view text) const {
    const std::string to = path(name);
    std::filesystem::create_directories(std::filesystem::path(to).parent_path());
    std::ofstream(to, std::ios::binary) << text;
    return to;
  }
  /// A flow of a file in the folder.
  DataFlow flow(const std::string& yaml, const std::shared_ptr<Fit>& fit = nullptr) const {
    return yaml_flow(yaml, fit, path("flow.yaml"));
  }
};

/// The files of a data set in MNIST's format: with `count` images, and with these labels.
inline std::vector<uint8_t> mnist_images(uint8_t count) {
  std::vector<uint8_t> bytes = {0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, 28, 0, 0, 0, 28};
  for (size_t i = 0; i < size_t{count} * 784; ++i)
    bytes.push_back(static_cast<uint8_t>(i / 784 + i % 784 % 200));
  return bytes;
}
inline std::vector<uint8_t> mnist_labels(std::vector<uint8_t> values) {
  values.insert(values.begin(), {0, 0, 8, 1, 0, 0, 0, static_cast<uint8_t>(values.size())});
  return values;
}

/// The source counts: sample k of a pass is the number k (label "k", int64) and the pass (label "pass").
class Counting final : public RandomAccessSource {
 public:
  struct Params {
    int64_t size = 10;
    bool shuffle = false;
  };
  static Schema<Params> schema() {
    return Schema<Params>("Counts.")
        .field("size", &Params::size, "samples of a pass")
        .shorthand()
        .field("shuffle", &Params::shuffle, "in random order");
  }
  explicit Counting(Params p) : p_(p) {}
  Spec spec() const override { return {{"k", {DType::kInt64, {}}}, {"pass", {DType::kInt64, {}}}}; }
  int64_t size() const override { return p_.size; }
  bool shuffled() const override { return p_.shuffle; }
  void get(int64_t index, const SampleKey& key, Datapoint& out) const override {
    *out.renew(0, {DType::kInt64, {}}).data<int64_t>() = index;
    *out.renew(1, {DType::kInt64, {}}).data<int64_t>() = key.id.pass;
  }

 private:
  Params p_;
};

/// The same, but sequential.
class CountingInOrder final : public SequentialSource {
 public:
  using Params = Counting::Params;
  static Schema<Params> schema() { return Counting::schema(); }
  explicit CountingInOrder(Params p) : p_(p) {}
  Spec spec() const override { return {{"k", {DType::kInt64, {}}}, {"pass", {DType::kInt64, {}}}}; }
  std::unique_ptr<Cursor> open(const PassKey& pass, uint64_t /*stage*/) const override {
    return std::make_unique<Reader>(p_.size, pass.pass);
  }

 private:
  class Reader final : public Cursor {
   public:
    Reader(int64_t size, int64_t pass) : size_(size), pass_(pass) {}
    bool next(Datapoint& out) override {
      if (at_ == size_) return false;
      *out.renew(0, {DType::kInt64, {}}).data<int64_t>() = at_++;
      *out.renew(1, {DType::kInt64, {}}).data<int64_t>() = pass_;
      return true;
    }

   private:
    int64_t size_;
    int64_t pass_;
    int64_t at_ = 0;
  };
  Params p_;
};

/// Drops samples whose number is a multiple of `every`, fails on number `fail`, and adds random numbers to
/// the others.
class Picky final : public Map {
 public:
  struct Params {
    int64_t drop_every = 0;
    int64_t fail = -1;
    bool fail_all = false;
  };
  static Schema<Params> schema() {
    return Schema<Params>("Is picky.")
        .field("drop_every", &Params::drop_every, "0: drops none")
        .field("fail", &Params::fail, "number that fails")
        .field("fail_all", &Params::fail_all, "all fail");
  }
  explicit Picky(Params p) : p_(p) {}
  Spec bind(const Spec& in) override {
    Spec out = in;
    out[1] = {"random", {DType::kInt64, {}}};
    return out;
  }
  bool may_drop() const override { return p_.drop_every > 0; }
  bool apply(Datapoint& d, const SampleKey& key) const override {
    const int64_t k = *d.tensor(0).data<int64_t>();
    if (p_.fail_all || k == p_.fail) throw DataError("number " + std::to_string(k) + " is bad");
    if (p_.drop_every > 0 && k % p_.drop_every == 0) return false;
    *d.renew(1, {DType::kInt64, {}}).data<int64_t>() = static_cast<int64_t>(key.rng().next());
    return true;
  }

 private:
  Params p_;
};

/// All elements of all batches, in order: the stream as one list of numbers.
inline std::vector<double> numbers_of(Stream& stream, int64_t most_batches = -1) {
  std::vector<double> all;
  for (int64_t n = 0; n != most_batches; ++n) {
    const auto batch = stream.next();
    if (!batch) break;
    for (size_t i = 0; i < batch->size(); ++i) {
      for (int64_t e = 0; e < batch->tensor(i).elements(); ++e) all.push_back(batch->tensor(i).at(e));
    }
  }
  return all;
}

/// The values of component 0 over one pass read by a cursor.
inline std::vector<int64_t> first_component(const DataFlow& flow, const Pass& pass = {}) {
  std::vector<int64_t> all;
  const auto cursor = flow.open(pass);
  for (Datapoint d; cursor->next(d);) {
    for (int64_t e = 0; e < d.tensor(0).elements(); ++e)
      all.push_back(static_cast<int64_t>(d.tensor(0).at(e)));
  }
  return all;
}

Datapoint first_sample(const DataFlow& flow, const Pass& pass = {});

/// Those of its first source.
inline Texts remarks_of(const DataFlow& flow) { return flow.facts().at(0).remarks; }

/// All numbers of the samples of a pass.
Rows samples_of(const DataFlow& flow, const Pass& pass = {});

std::string error_of(const std::function<void()>& action);
/// Whether an action throws an error with all these parts.
testing::AssertionResult fails(const std::function<void()>& action, const Texts& parts);
/// With each of the texts, the action throws an error that has all these parts.
void expect_errors(const std::function<void(const std::string&)>& action,
                   const std::vector<std::pair<std::string, Texts>>& parts_by_text);

/// Settings, spec and two passes of a flow, as text; or why it has none. Its paths are relative to the folder
/// of `file`.
std::string content_of_flow(const std::string& items_yaml, const std::string& file = "flow.yaml");

/// While it lives, it gets each flow that content_of_flow has read.
class FlowWatch {
 public:
  explicit FlowWatch(std::function<void(const DataFlow&)> watch);
  ~FlowWatch();
  FlowWatch(const FlowWatch&) = delete;
  FlowWatch& operator=(const FlowWatch&) = delete;
};

}  // namespace tpack
