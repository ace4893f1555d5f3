#include "sources/format/caffe_datum.h"

#include <limits>
#include <string>

#include "core/error.h"
#include "sources/format/caffe_datum.pb.h"

namespace tpack {
namespace {

/// Errors: DataError if the array of `elements` is not [channels, height, width].
void check_datum_sizes(const CaffeDatum& datum, size_t elements) {
  const std::string sizes = "[" + std::to_string(datum.channels) + ", " + std::to_string(datum.height) +
                            ", " + std::to_string(datum.width) + "]";
  if (datum.channels <= 0 || datum.height <= 0 || datum.width <= 0)
    throw DataError("a record with an array of " + sizes + " (channels, height, width)");
  // The product of two numbers of 31 bits cannot overflow; neither can that of a number up to 2^31 and a
  // third.
  const int64_t area = datum.height * datum.width;
  const bool fits =
      area <= std::numeric_limits<int32_t>::max() && static_cast<size_t>(area * datum.channels) == elements;
  if (!fits)
    throw DataError("a record of " + sizes + " (channels, height, width) with " + std::to_string(elements) +
                    " values");
}

}  // namespace

CaffeDatum read_caffe_datum(std::span<const uint8_t> record) {
  thread_local caffe::Datum message;  // keeps its memory
  constexpr auto kMax = static_cast<size_t>(std::numeric_limits<int>::max());
  if (record.size() > kMax || !message.ParseFromArray(record.data(), static_cast<int>(record.size()))) {
    throw DataError("a record of " + std::to_string(record.size()) +
                    " bytes that is damaged, or not a Datum of Caffe");
  }
  const std::string& data = message.data();
  CaffeDatum datum{.channels = message.channels(),
                   .height = message.height(),
                   .width = message.width(),
                   .label = message.label(),
                   .bytes = {reinterpret_cast<const uint8_t*>(data.data()), data.size()}};
  if (message.encoded()) {
    datum.kind = CaffeDatum::Kind::kEncoded;
  } else if (data.empty()) {  // same rule as Caffe
    datum.kind = CaffeDatum::Kind::kFloats;
    datum.floats = {message.float_data().data(), static_cast<size_t>(message.float_data_size())};
  }
  if (datum.bytes.empty() && datum.floats.empty()) throw DataError("a record without data");
  if (datum.kind != CaffeDatum::Kind::kEncoded)
    check_datum_sizes(datum, datum.kind == CaffeDatum::Kind::kFloats ? datum.floats.size() : data.size());
  return datum;
}

}  // namespace tpack
