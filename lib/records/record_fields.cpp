#include "records/record_fields.h"

#include "core/error.h"
#include "core/text.h"
#include "core/text_encoding.h"
#include "image/format/image_codec.h"
#include "image/format/image_formats.h"

namespace tpack {

std::string RecordValue::describe() const {
  constexpr size_t kMostShown = 30;
  if (const ImageFormat* format = kind == Kind::kText ? nullptr : image_format_of(bytes);
      format != nullptr && (kind == Kind::kBytes || shape.rank() == 1)) {
    try {
      return std::string(format->name) + " " + read_image_header(bytes).str();
    } catch (const DataError&) {
      return "a damaged " + std::string(format->name);
    }
  }
  switch (kind) {
    case Kind::kArray:
      return std::string(type->name) + " " + shape.str();
    case Kind::kOther:
      return what;
    case Kind::kBytes:
    case Kind::kText:
      break;
  }
  const bool is_text =
      kind == Kind::kText || (!bytes.empty() && !first_invalid_utf8(text()) && bytes.size() <= kMostShown);
  if (!is_text) return with_thousands(std::ssize(bytes)) + " bytes";
  const std::string shown = printable(text().substr(0, kMostShown));
  return "text '" + shown + (bytes.size() > kMostShown ? "...'" : "'");
}

void RecordFields::clear() {
  fields_.clear();
  texts_.clear();
  blocks_.clear();
  owners_.clear();
}

std::vector<uint8_t>& RecordFields::bytes(size_t size) { return blocks_.emplace_back(size); }

const RecordValue* RecordFields::find(std::string_view name) const {
  for (const Field& field : fields_)
    if (field.name == name) return &field.value;
  return nullptr;
}

std::string RecordFields::describe() const {
  constexpr size_t kMostShown = 40;
  std::vector<std::string> parts;
  for (const Field& field : fields_) {
    if (parts.size() == kMostShown) break;
    parts.push_back(printable(field.name) + " (" + field.value.describe() + ")");
  }
  std::string text = join(parts, ", ");
  if (fields_.size() > kMostShown) text += " and " + std::to_string(fields_.size() - kMostShown) + " more";
  return text;
}

}  // namespace tpack
