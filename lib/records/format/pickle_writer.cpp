#include "records/format/pickle_writer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "sources/format/npy.h"

// Source: Lib/pickletools.py of Python 3.13 (instructions); what NumPy 1.26 writes for arrays.
namespace tpack {
namespace {

template <class T>
void put_little(std::string& to, T value) {
  std::array<char, sizeof value> bytes{};
  std::memcpy(bytes.data(), &value, sizeof value);
  to.append(bytes.data(), bytes.size());
}

}  // namespace

PickledList::PickledList() : text_("\x80\x04](") {}  // PROTO 4, EMPTY_LIST, MARK

void PickledList::put_integer(int64_t value) {
  if (value == static_cast<int32_t>(value)) {
    text_ += 'J';  // BININT
    put_little(text_, static_cast<int32_t>(value));
  } else {
    text_ += "\x8a\x08";  // LONG1
    put_little(text_, value);
  }
}

void PickledList::put_bytes(std::string_view bytes) {
  if (bytes.size() <= std::numeric_limits<uint32_t>::max()) {
    text_ += 'B';  // BINBYTES
    put_little(text_, static_cast<uint32_t>(bytes.size()));
  } else {
    text_ += '\x8e';  // BINBYTES8
    put_little(text_, static_cast<uint64_t>(bytes.size()));
  }
  text_ += bytes;
}

void PickledList::add_array(std::string_view type, std::span<const int64_t> sizes,
                            std::string_view elements) {
  using namespace std::string_view_literals;
  // _reconstruct(ndarray, (0,), b"b")
  text_ +=
      "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\0\x85"
      "C\x01"
      "b\x87R"sv;
  text_ += "(K\x01("sv;  // its state: version, shape
  for (const int64_t size : sizes) put_integer(size);
  text_ += "tcnumpy\ndtype\nX"sv;
  put_little(text_, static_cast<uint32_t>(type.size()));
  text_ += type;
  text_ += "\x89\x88\x87R(K\x03X\x01\0\0\0"sv;  // dtype(type, False, True), and its state
  text_ += type[1] == '1' ? '|' : '<';
  text_ += "NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb\x89"sv;  // BUILD; not in Fortran order
  put_bytes(elements);
  text_ += "tb"sv;
}

void PickledList::add(const Tensor& values) {
  if (values.shape().rank() == 0 && is_float(values.dtype())) {
    auto bits = std::bit_cast<std::array<char, sizeof(double)>>(values.at(0));
    std::ranges::reverse(bits);
    text_ += 'G';  // BINFLOAT
    text_.append(bits.data(), bits.size());
  } else if (values.shape().rank() == 0) {
    put_integer(static_cast<int64_t>(values.at(0)));
  } else {
    add_array(stored_type(values.dtype()).descr, values.shape().sizes(),
              {reinterpret_cast<const char*>(values.raw()), values.bytes()});
  }
}

void PickledList::add_bytes(std::string_view bytes) {
  const std::array sizes{static_cast<int64_t>(bytes.size())};
  add_array("u1", sizes, bytes);
}

void PickledList::add_text_bytes(std::string_view bytes) { put_bytes(bytes); }

std::string PickledList::finish() { return std::move(text_) + "e."; }  // APPENDS, STOP

}  // namespace tpack
