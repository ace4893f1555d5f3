#include "records/record_components.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "core/error.h"
#include "core/schema.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "fields/tensor_fields.h"
#include "image/format/image_codec.h"
#include "image/format/image_formats.h"
#include "sources/array_of_component.h"

namespace tpack {
namespace {

struct FieldParams {
  ConfigNode field;
  std::string dtype;
  std::vector<int64_t> shape;
  std::vector<std::string> classes;
  Color color = Color::kRgb;
  Annotation annotation = Annotation::kNone;
  std::optional<int64_t> ignored;
};

const Schema<FieldParams>& field_schema() {
  static const Schema<FieldParams> kSchema =
      Schema<FieldParams>("A component that is read from a field of records.")
          .field("field", &FieldParams::field, "name of the field")
          .required()
          .field("dtype", &FieldParams::dtype, "type of the elements of bytes that are no encoded image")
          .field("shape", &FieldParams::shape, "their shape; default: a vector")
          .field("classes", &FieldParams::classes,
                 "names of the classes: for labels that are numbers, or texts that are such names")
          .field("color", &FieldParams::color, "color format of an encoded image: rgb or gray")
          .field("annotation", &FieldParams::annotation,
                 "what it says about the image, so that augmentors move it, too")
          .field("ignored", &FieldParams::ignored, "the number of labels or pixels that do not count");
  return kSchema;
}

/// Bytes of an image file, also as an array of bytes, which tensorpack's users store.
bool is_encoded_image(const RecordValue& value) {
  const bool is_row =
      value.kind == RecordValue::Kind::kArray && value.type->descr == "u1" && value.shape.rank() == 1;
  return (value.kind == RecordValue::Kind::kBytes || is_row) && image_format_of(value.bytes) != nullptr;
}

bool is_text(const RecordValue& value) {
  return value.kind == RecordValue::Kind::kText || value.kind == RecordValue::Kind::kBytes;
}

std::optional<int32_t> integer_text(std::string_view text) {
  text = trim(text);
  int32_t number = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The number of the class with this name; -1 if there is none.
int32_t class_of(std::string_view name, const std::vector<std::string>& classes) {
  const auto found = std::find(classes.begin(), classes.end(), trim(name));
  return found == classes.end() ? -1 : static_cast<int32_t>(found - classes.begin());
}

/// Makes sizes unknown where they differ. False if the shapes have different ranks.
bool unite(Shape& shape, const Shape& other) {
  if (shape.rank() != other.rank()) return false;
  for (int axis = 0; axis < static_cast<int>(shape.rank()); ++axis)
    if (shape[axis] != other[axis]) shape = shape.with(axis, Shape::kUnknown);
  return true;
}

}  // namespace

FieldType Codec<std::vector<ComponentOfField>>::type() {
  const FieldType one = FieldType::either(
      {FieldType::text(), FieldType::integer(), FieldType::section(field_schema().fields(), "a component")},
      "the name of a field, or {field: NAME, ...}");
  return FieldType::map_of(one, "fields by component");
}

std::optional<std::vector<ComponentOfField>> Codec<std::vector<ComponentOfField>>::parse(
    const ConfigNode& node, Reader& reader) {
  const size_t before = reader.errors().count();
  if (!node.is_map()) {
    reader.wrong_type(node, "fields by component, such as {image: jpg, label: cls}");
    return std::nullopt;
  }
  std::vector<ComponentOfField> all;
  for (const auto& [component, value, position] : node.entries()) {
    ComponentOfField one{.component = component, .position = value.position()};
    const ConfigNode* field = &value;
    FieldParams params;
    if (value.is_map()) {
      params = field_schema().parse(value, "component " + component, reader.errors());
      field = value.find("field");
      if (field == nullptr) continue;  // reported
      one.classes = params.classes;
      one.color = params.color;
      one.annotation = params.annotation;
      one.ignored = params.ignored;
      if (one.color == Color::kRgba) reader.fail(value, "color 'rgba' is not supported; use rgb or gray");
      if (value.find("shape") != nullptr && params.shape.size() <= Shape::kMaxRank)
        one.shape = Shape(params.shape);
      if (!params.dtype.empty()) one.dtype = params.dtype;
    }
    if (!field->is_string() && field->kind() != ConfigNode::Kind::kInt) {
      reader.wrong_type(*field, "the name of a field");
      continue;
    }
    one.field = field->text();
    const auto is_named = [&](const NpyType& type) { return type.name == one.dtype; };
    if (one.dtype && std::ranges::none_of(npy_types(), is_named)) {
      std::vector<std::string> names;
      for (const NpyType& type : npy_types()) names.emplace_back(type.name);
      reader.fail(*value.find("dtype"), "unknown type '" + *one.dtype + "'" +
                                            did_you_mean(*one.dtype, names) + "; one of " +
                                            join(names, ", "));
    }
    all.push_back(std::move(one));
  }
  return reader.errors().count() == before ? std::optional(std::move(all)) : std::nullopt;
}

ConfigNode Codec<std::vector<ComponentOfField>>::dump(const std::vector<ComponentOfField>& all) {
  std::vector<ConfigNode::Entry> entries;
  for (const ComponentOfField& one : all) {
    ConfigNode value(one.field);
    const bool is_plain = !one.dtype && !one.shape && one.classes.empty() && one.color == Color::kRgb &&
                          one.annotation == Annotation::kNone && !one.ignored;
    if (!is_plain) {
      value = ConfigNode({{"field", one.field}});
      if (one.dtype) value = value.with("dtype", *one.dtype);
      if (one.shape) value = value.with("shape", Codec<Shape>::dump(*one.shape));
      if (one.color != Color::kRgb) value = value.with("color", Codec<Color>::dump(one.color));
      if (one.annotation != Annotation::kNone)
        value = value.with("annotation", Codec<Annotation>::dump(one.annotation));
      if (one.ignored) value = value.with("ignored", *one.ignored);
      if (!one.classes.empty())
        value = value.with("classes", Codec<std::vector<std::string>>::dump(one.classes));
    }
    entries.push_back({one.component, value});
  }
  return ConfigNode::map(std::move(entries));
}

const RecordValue* RecordComponents::find(const RecordFields& record, size_t i) const {
  for (const std::string& name : split(wanted_[i].field, ';'))
    if (const RecordValue* value = record.find(trim(name))) return value;
  return nullptr;
}

/// Bytes with a declared type, or next to a field of their sizes, are an array.
std::optional<RecordValue> RecordComponents::as_array(const RecordFields& record, size_t i,
                                                      const RecordValue& value) const {
  const ComponentOfField& wanted = wanted_[i];
  RecordValue array = value;
  const RecordValue* sizes = record.find(wanted.field + "/shape");
  const bool is_declared = wanted.dtype || wanted.shape || (sizes != nullptr && !is_encoded_image(value));
  if (value.kind == RecordValue::Kind::kBytes) {
    if (!is_declared) return std::nullopt;
    const std::string dtype = wanted.dtype.value_or("uint8");
    array.type = &*std::ranges::find_if(npy_types(), [&](const NpyType& type) { return type.name == dtype; });
    array.kind = RecordValue::Kind::kArray;
    if (value.bytes.size() % array.type->bytes != 0)
      throw DataError("has " + with_thousands(std::ssize(value.bytes)) +
                      " bytes, which is no number of elements of " + dtype);
    array.shape = Shape({std::ssize(value.bytes) / static_cast<int64_t>(array.type->bytes)});
  } else if (value.kind != RecordValue::Kind::kArray) {
    return std::nullopt;
  }
  std::optional<Shape> shape = wanted.shape;
  if (!shape && sizes != nullptr && sizes->kind == RecordValue::Kind::kArray && sizes->type->descr == "i8" &&
      sizes->shape.rank() <= 1) {
    std::vector<int64_t> numbers(sizes->bytes.size() / sizeof(int64_t));
    std::memcpy(numbers.data(), sizes->bytes.data(), sizes->bytes.size());
    if (numbers.size() > Shape::kMaxRank || std::ranges::any_of(numbers, [](int64_t n) { return n < 0; }))
      throw DataError("has a damaged shape");
    shape = Shape(numbers);
  }
  if (!shape) return array;
  int64_t elements = 1;
  for (const int64_t size : shape->sizes()) {
    constexpr int64_t kMost = int64_t{1} << 40U;
    elements = size > 0 && elements > kMost / size ? kMost : elements * size;
  }
  const int64_t has = std::ssize(array.bytes) / static_cast<int64_t>(array.type->bytes);
  if (elements != has)
    throw DataError("has " + with_thousands(has) + " elements of " + std::string(array.type->name) +
                    "; its shape " + shape->str() + " has " + with_thousands(elements));
  array.shape = *shape;
  return array;
}

ComponentSpec RecordComponents::spec_of(const RecordFields& record, size_t i) const {
  const ComponentOfField& wanted = wanted_[i];
  const RecordValue* value = find(record, i);
  if (value == nullptr) throw DataError("has no field '" + wanted.field + "'; it has " + record.describe());
  ComponentSpec spec{.name = wanted.component, .classes = wanted.classes, .ignored = wanted.ignored};
  spec.annotation = wanted.annotation;
  if (is_image_field(*value, i)) {
    const ImageForm form{.color = wanted.color};
    const ImageSize size = read_image_header(value->bytes, form);
    spec.tensor = {DType::kUInt8, {size.height, size.width, form.channels()}};
    spec.is_image = true;
    return spec;
  }
  if (const auto array = as_array(record, i, *value)) {
    spec.tensor = {array->type->dtype, array->shape};
    if (!wanted.classes.empty() && array->type->dtype == DType::kInt32 && array->shape.elements() == 1)
      spec.tensor.shape = {};
    spec.is_image = wanted.annotation == Annotation::kNone && is_image_spec(spec.tensor);
    if (spec.is_image && array->shape.rank() == 2) spec.tensor.shape = {array->shape[0], array->shape[1], 1};
    return spec;
  }
  spec.tensor = {DType::kInt32, {}};
  const bool is_number = is_text(*value) && integer_text(value->text());
  if (is_number || (is_text(*value) && !wanted.classes.empty())) return spec;
  throw DataError("field '" + wanted.field + "' is " + value->describe() + "; " +
                  (is_text(*value) ? "for labels that are texts, write " + wanted.component +
                                         ": {field: " + wanted.field +
                                         ", classes: [...]}; for raw numbers, give 'dtype' and 'shape'"
                                   : "images, numbers, arrays of numbers and texts can be components"));
}

void RecordComponents::look(const RecordFields& record) {
  for (size_t i = 0; i < wanted_.size(); ++i) {
    ComponentSpec spec = spec_of(record, i);
    std::optional<ComponentSpec>& known = specs_[i];
    if (!known) {
      known = std::move(spec);
    } else if (known->tensor.dtype == spec.tensor.dtype) {
      unite(known->tensor.shape, spec.tensor.shape);  // `fill` rejects another rank
    }
  }
}

Spec RecordComponents::spec() const {
  std::vector<ComponentSpec> all;
  for (const auto& one : specs_) all.push_back(*one);
  return Spec(std::move(all));
}

void RecordComponents::follow(size_t i, const std::vector<std::string>& classes) {
  ComponentSpec& spec = *specs_[i];
  if (spec.classes == classes) return;
  const std::string what = "component '" + spec.name + "' has the class";
  if (spec.tensor != TensorSpec{DType::kInt32, {}})
    throw DataError(what + "es " + join_first(spec.classes) + "; data.train has " + join_first(classes));
  for (const std::string& name : spec.classes) {
    const int32_t number = class_of(name, classes);
    if (number < 0)
      throw DataError(what + " '" + printable(name) + "'" + did_you_mean(name, classes) +
                      ", which is not a class of data.train; it has " + join_first(classes));
    numbers_[i].push_back(number);
  }
  spec.classes = classes;
}

void RecordComponents::fill(RecordFields& record, const std::string& where, Datapoint& out) const {
  std::optional<size_t> whole;  // the image that takes the buffer, after the others have read it
  std::span<const uint8_t> file;
  for (size_t i = 0; i < wanted_.size(); ++i) {
    const RecordValue* value = find(record, i);
    if (value == nullptr)
      throw DataError("has no field '" + wanted_[i].field + "'; it has " + record.describe());
    if (!whole && is_image_field(*value, i) && record.is_in_buffer(value->bytes)) {
      whole = i;
      file = value->bytes;
      continue;
    }
    with_field(i, [&] {
      if (is_image_field(*value, i)) {
        const size_t size = value->bytes.size();
        std::memcpy(out.renew_image(i).encoded_buffer(size).data(), value->bytes.data(), size);
        image_known(i, where, out);
      } else if (const auto array = as_array(record, i, *value)) {
        fill_array(*array, i, out);
        number_label(i, out);
      } else {
        fill_label(*value, i, out);
        number_label(i, out);
      }
    });
  }
  if (!whole) return;
  out.renew_image(*whole).take_encoded(record.buffer(), file);
  with_field(*whole, [&] { image_known(*whole, where, out); });
}

bool RecordComponents::is_image_field(const RecordValue& value, size_t i) const {
  return is_encoded_image(value) && !wanted_[i].dtype;
}

void RecordComponents::image_known(size_t i, const std::string& where, Datapoint& out) const {
  if (!specs_[i]->is_image) throw differs(i, "an encoded image");
  out.image(i).header_known({.color = wanted_[i].color}, where);
}

template <class Work>
void RecordComponents::with_field(size_t i, Work work) const {
  try {
    work();
  } catch (const FileError&) {
    throw;
  } catch (const DataError& error) {
    throw DataError("field '" + wanted_[i].field + "': " + error.what());
  }
}

/// The text of a number, or the name of a class.
void RecordComponents::fill_label(const RecordValue& value, size_t i, Datapoint& out) const {
  const ComponentSpec& known = *specs_[i];
  if (!is_text(value) || known.tensor != TensorSpec{DType::kInt32, {}}) throw differs(i, value.describe());
  const std::vector<std::string>& classes = wanted_[i].classes;
  const int32_t number_of_class = class_of(value.text(), classes);
  const auto number = number_of_class >= 0 ? number_of_class : integer_text(value.text());
  if (!number && classes.empty()) throw differs(i, value.describe());
  if (!number) throw DataError(value.describe() + " is not among its classes " + join_first(classes));
  *out.renew(i, known.tensor).data<int32_t>() = *number;
}

DataError RecordComponents::differs(size_t i, const std::string& found) const {
  return DataError("is " + found + "; in other records it is " + specs_[i]->tensor.str());
}

void RecordComponents::fill_array(const RecordValue& array, size_t i, Datapoint& out) const {
  const ComponentSpec& known = *specs_[i];
  TensorSpec spec{array.type->dtype, array.shape};
  if (known.tensor.shape.rank() == 0 && spec.shape.elements() == 1) spec.shape = {};
  if (known.is_image && is_image_spec(spec) && spec.shape.rank() == 2)
    spec.shape = {spec.shape[0], spec.shape[1], 1};
  if (spec.dtype != known.tensor.dtype || spec.shape.rank() != known.tensor.shape.rank())
    throw differs(i, array.describe());
  Tensor& to = out.renew(i, spec);
  if (!array.is_fortran || array.shape.rank() < 2) return array.type->convert(array.bytes.data(), to);
  thread_local std::vector<uint8_t> ordered;
  ordered.resize(array.bytes.size());
  copy_to_c_order(array.bytes, array.type->bytes, array.shape.sizes(), ordered.data());
  array.type->convert(ordered.data(), to);
}

/// Checks a label among the classes of the file, and gives it its number among those of the training data.
void RecordComponents::number_label(size_t i, const Datapoint& out) const {
  const ComponentSpec& known = *specs_[i];
  if (wanted_[i].classes.empty() || known.tensor != TensorSpec{DType::kInt32, {}}) return;
  int32_t& label = *out.tensor(i).data<int32_t>();
  if (label == known.ignored) return;
  const std::vector<std::string>& own = wanted_[i].classes;
  if (label < 0 || label >= std::ssize(own))
    throw DataError("is class " + std::to_string(label) + "; there are " + std::to_string(own.size()) +
                    " classes, from 0");
  if (!numbers_[i].empty()) label = numbers_[i][static_cast<size_t>(label)];
}

}  // namespace tpack
