#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/field.h"
#include "dataflow/datapoint.h"
#include "dataflow/spec.h"
#include "records/record_fields.h"

namespace tpack {

/// A component and the field of a record that it is read from, in a config: `image: jpg`, or `label: {field:
/// cls, classes: [cat, dog]}`.
struct ComponentOfField {
  std::string component;
  std::string field;  // or several, "jpg;png": the first one that a record has
  /// The elements of bytes that are no encoded image: a name of npy_types, in this shape.
  std::optional<std::string> dtype = {};
  std::optional<Shape> shape = {};
  std::vector<std::string> classes = {};  // of a label
  Color color = Color::kRgb;              // of an encoded image
  Annotation annotation = Annotation::kNone;
  std::optional<int64_t> ignored = {};
  Position position = {};
};

template <>
struct EnumNames<Annotation> {
  static constexpr std::array<std::pair<const char*, Annotation>, 4> kNames = {
      {{"none", Annotation::kNone},
       {"mask", Annotation::kMask},
       {"boxes", Annotation::kBoxes},
       {"points", Annotation::kPoints}}};
};

template <>
struct Codec<std::vector<ComponentOfField>> {
  static FieldType type();
  static std::optional<std::vector<ComponentOfField>> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(const std::vector<ComponentOfField>& all);
};

/// Makes the components of samples from the fields of records. Threads: const methods may run at once.
class RecordComponents {
 public:
  RecordComponents() = default;
  explicit RecordComponents(std::vector<ComponentOfField> wanted)
      : wanted_(std::move(wanted)), specs_(wanted_.size()), numbers_(wanted_.size()) {}

  /// Takes types and shapes from a record; sizes that differ from those of other records are unknown.
  /// Errors: DataError if the record cannot be read in this way.
  void look(const RecordFields& record);
  Spec spec() const;
  /// The classes of a component become those of the training data; labels get their numbers. Errors:
  /// DataError for a class that these do not have, or for other classes of the pixels of a mask.
  void follow(size_t i, const std::vector<std::string>& classes);
  /// Fills the components of `out`. `where`: the position of the record. An image may take the buffer of the
  /// record. Errors: DataError.
  void fill(RecordFields& record, const std::string& where, Datapoint& out) const;
  const std::vector<ComponentOfField>& wanted() const { return wanted_; }

 private:
  const RecordValue* find(const RecordFields& record, size_t i) const;
  std::optional<RecordValue> as_array(const RecordFields& record, size_t i, const RecordValue& value) const;
  ComponentSpec spec_of(const RecordFields& record, size_t i) const;
  bool is_image_field(const RecordValue& value, size_t i) const;
  void image_known(size_t i, const std::string& where, Datapoint& out) const;
  /// Adds the name of the field to errors.
  template <class Work>
  void with_field(size_t i, Work work) const;
  void fill_array(const RecordValue& array, size_t i, Datapoint& out) const;
  void fill_label(const RecordValue& value, size_t i, Datapoint& out) const;
  void number_label(size_t i, const Datapoint& out) const;
  DataError differs(size_t i, const std::string& found) const;

  std::vector<ComponentOfField> wanted_;
  std::vector<std::optional<ComponentSpec>> specs_;
  std::vector<std::vector<int32_t>> numbers_;  // of each component: new labels by the stored ones; or empty
};

}  // namespace tpack
