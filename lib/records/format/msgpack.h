#pragma once

#include "sources/format/stored_value.h"

namespace tpack {

/// A value stored as MessagePack, and what it owns.
struct PackedMessage {
  StoredValue value;
  StoredPool pool;
};

/// Reads one value, which must be all of the bytes; they must outlive it. Maps as msgpack-numpy writes them
/// (keys nd, type, shape, data) are arrays. Errors: DataError if the bytes are damaged or end early, if a
/// value has a type of its own (ext), or is nested deeper than 100 levels. Source: msgpack specification;
/// msgpack-numpy 0.4.8.
PackedMessage read_msgpack(StoredBytes bytes);

}  // namespace tpack
