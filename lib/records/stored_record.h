#pragma once

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "core/field.h"
#include "records/record_components.h"
#include "records/record_fields.h"

namespace tpack {

/// How a record stores a sample.
enum class RecordForm : uint8_t { kAuto, kPickle, kMsgpack, kRaw };

template <>
struct EnumNames<RecordForm> {
  static constexpr std::array<std::pair<const char*, RecordForm>, 4> kNames = {
      {{"auto", RecordForm::kAuto},
       {"pickle", RecordForm::kPickle},
       {"msgpack", RecordForm::kMsgpack},
       {"raw", RecordForm::kRaw}}};
};

/// The form of a record, by its first bytes.
RecordForm form_of_record(std::span<const uint8_t> record);

/// Adds the values of a sample that tensorpack or another program of Python stored: the elements of a list by
/// their number, of a dict by their key; raw bytes as `value`. The record must outlive the fields. Errors:
/// DataError if it is damaged. Source: tensorpack utils/serialize.py.
void add_stored_record(std::span<const uint8_t> record, RecordForm form, RecordFields& fields);

/// The components of records [image, label], as in tensorpack's examples; empty for other records.
std::vector<ComponentOfField> image_and_label(const RecordFields& record);

}  // namespace tpack
