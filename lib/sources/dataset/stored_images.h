#pragma once

#include <string>
#include <vector>

#include "dataflow/source.h"

namespace tpack {

/// Images of one size, in memory, and their classes.
class StoredImages : public RandomAccessSource, public SourceFiles, public SampleFacts {
 public:
  /// What is known before the files are read.
  struct Form {
    int64_t side = 0;
    int64_t channels = 0;
    std::vector<std::string> classes;  // empty: `load` sets them
    int64_t samples = 0;
    bool shuffle = false;
  };
  struct Content {
    Tensor images;  // uint8 [N, side, side, channels], or without channels if there is one
    std::vector<int32_t> labels;
    std::vector<std::string> paths;  // of the files that were read
  };

  bool knows_spec() const override { return !form_.classes.empty(); }
  Spec spec() const override;
  std::optional<ComponentSpec> declared_image() const override { return spec()[0]; }
  int64_t size() const override;
  bool shuffled() const override { return form_.shuffle; }
  SourceFacts facts() const override;
  std::string fingerprint() const override { return fingerprint_; }
  std::optional<std::vector<int32_t>> class_numbers(const std::string& component) const override;
  void get(int64_t index, const SampleKey& key, Datapoint& out) const override;

 protected:
  explicit StoredImages(Form form) : form_(std::move(form)) {}
  void prepare() override;
  /// Reads the files. Errors: DataError.
  virtual Content load() = 0;
  const std::vector<std::string>& classes() const { return form_.classes; }
  void set_classes(std::vector<std::string> names) { form_.classes = std::move(names); }
  /// Adds a remark for users to the facts.
  void remark(std::string text) { remarks_.push_back(std::move(text)); }

 private:
  Form form_;
  Content content_;
  std::vector<std::string> remarks_;
  std::string fingerprint_;
};

}  // namespace tpack
