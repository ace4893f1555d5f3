#pragma once

#include <cstddef>

#include "sources/format/stored_value.h"

namespace tpack {

/// A value that Python stored with `pickle`, and what it owns.
struct Pickle {
  StoredValue value;
  StoredPool pool;
  size_t size = 0;  // of the pickle; the bytes after it may be another one
};

/// Reads the pickle at the start of the bytes, protocols 0 to 5, which must outlive it: long texts, bytes and
/// arrays are windows of them.
///
/// Nothing is imported or run. Known classes and functions are those of NumPy's arrays, types and scalars,
/// OrderedDict, defaultdict, bytes, bytearray, set and frozenset; anything else is a StoredObject with its
/// name, and reading goes on. Texts of Python 2 (`str`) are bytes, and integers beyond 64 bits are objects of
/// `int`. The state of a dict is left out.
///
/// Source: Lib/pickletools.py of Python 3.13; NumPy 1.26 and 2.2. Errors: DataError, with the offset of the
/// instruction, if the bytes are not a pickle, are damaged or end early, if arrays are out of band, or if the
/// values need more than 40 times the memory of the pickle, are more than 20 times its bytes in number
/// (with a million more of each), or are nested deeper than 100 levels.
Pickle read_pickle(StoredBytes bytes);

}  // namespace tpack
