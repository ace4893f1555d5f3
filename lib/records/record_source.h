#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/schema.h"
#include "dataflow/source.h"
#include "records/record_components.h"

namespace tpack {

/// The fields that sources of records have in common.
struct RecordParams {
  bool shuffle = true;
  std::optional<int64_t> block = {};
  std::vector<ComponentOfField> components;
};

template <std::derived_from<RecordParams> P>
Schema<P> with_records(Schema<P> schema) {
  return schema
      .field(
          "components", static_cast<std::vector<ComponentOfField> P::*>(&P::components),
          "fields by component. An encoded image becomes an image, an array stays one, a number or the text "
          "of a number becomes an int32. {field: NAME, classes: [...]}: the names of labels, which may be "
          "texts; {field: NAME, dtype: uint8, shape: [28, 28, 1]}: bytes that are the elements of an array. "
          "Default: those that `tpack data convert` wrote")
      .field("shuffle", static_cast<bool P::*>(&P::shuffle),
             "use a new order in each pass; false: in the order of the file")
      .field("block", static_cast<std::optional<int64_t> P::*>(&P::block), between(1, 1e6),
             "if shuffled, records that lie next to one another are read together, this many, and mixed with "
             "those of 31 other blocks: a disk reads them many times as fast. Default: 1, or 64 if the files "
             "have more than 8 GB");
}

/// Data in files of records, each with named fields. Records are found when the files are opened, and parsed
/// when they are read.
class RecordSource : public RandomAccessSource, public SourceFiles, public LearnedValues {
 public:
  /// `owner`: "TFRecord", for messages.
  RecordSource(std::string owner, RecordParams params);

  bool knows_spec() const override { return false; }
  Spec spec() const override { return components_.spec(); }
  std::vector<FittedComponent> fitted() const override;
  bool shuffled() const override { return params_.shuffle; }
  int64_t block() const override;
  SourceFacts facts() const override { return {.samples = size(), .unit = "records"}; }
  void get(int64_t index, const SampleKey& key, Datapoint& out) const override;

 protected:
  /// Opens the files. Errors: as for `prepare`.
  virtual void open() = 0;
  virtual uint64_t bytes() const = 0;
  /// The first file, whose description (description_path) has components.
  virtual std::string first_file() const = 0;
  /// Adds the fields of a record. Errors: DataError.
  virtual void read(int64_t index, RecordFields& fields) const = 0;
  /// Components if none are declared: empty if they cannot be guessed.
  virtual std::vector<ComponentOfField> guess(const RecordFields& first) const = 0;

  void prepare() final;

 private:
  std::string owner_;
  RecordParams params_;
  RecordComponents components_;
};

/// The name of the file that describes the components of a file of records.
std::string description_path(const std::string& path);
/// Components of a description; empty if there is none. Errors: DataError.
std::vector<ComponentOfField> described_components(const std::string& path);
/// Errors: ResourceError.
void write_description(const std::string& path, const std::vector<ComponentOfField>& components);

}  // namespace tpack
