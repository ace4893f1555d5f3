#include "checkpoint/hdf5.h"

#include <algorithm>
#include <cstdlib>

#include "core/error.h"

namespace tpack::hdf5 {
namespace {

/// Keeps the innermost description of the error.
herr_t innermost(unsigned /*depth*/, const H5E_error2_t* error, void* text) {
  if (error->desc != nullptr) *static_cast<std::string*>(text) = error->desc;
  return 0;
}

Handle bool_type() {
  Handle type(H5Tenum_create(H5T_STD_I8LE), H5Tclose);
  int8_t value = 0;
  H5Tenum_insert(type.get(), "FALSE", &value);
  value = 1;
  H5Tenum_insert(type.get(), "TRUE", &value);
  return type;
}

void* same_user_data(void* data) { return data; }
herr_t forget_user_data(void* /*data*/) { return 0; }

}  // namespace

void prepare() {
  // At the exit of the process, libhdf5 would close files again whose closing had failed, and crash.
  H5dont_atexit();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  H5PLset_loading_state(0);
}

std::string cause_of_failure() {
  std::string cause;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, innermost, &cause);
  return cause;
}

void fail(const std::string& path, const char* what) {
  const std::string cause = cause_of_failure();
  throw CheckpointError(path, std::string(what) + (cause.empty() ? "" : ": " + cause));
}

Handle file_type(DType type) {
  switch (type) {
    case DType::kFloat32:
      return {H5Tcopy(H5T_IEEE_F32LE), H5Tclose};
    case DType::kFloat64:
      return {H5Tcopy(H5T_IEEE_F64LE), H5Tclose};
    case DType::kInt32:
      return {H5Tcopy(H5T_STD_I32LE), H5Tclose};
    case DType::kInt64:
      return {H5Tcopy(H5T_STD_I64LE), H5Tclose};
    case DType::kUInt8:
      return {H5Tcopy(H5T_STD_U8LE), H5Tclose};
    case DType::kBool:
      return bool_type();
    case DType::kBFloat16:
    case DType::kFloat16:
      break;  // within programs alone
  }
  return {H5I_INVALID_HID, H5Tclose};
}

Handle text_type(size_t bytes) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), std::max<size_t>(bytes, 1));
  H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return type;
}

MemoryFile::~MemoryFile() { std::free(buffer_); }

void* MemoryFile::resize(void* buffer, size_t bytes, H5FD_file_image_op_t /*operation*/, void* /*self*/) {
  return std::realloc(buffer, bytes);
}

herr_t MemoryFile::keep(void* buffer, H5FD_file_image_op_t /*operation*/, void* self) {
  auto* file = static_cast<MemoryFile*>(self);
  std::free(file->buffer_);
  file->buffer_ = buffer;
  return 0;
}

Handle MemoryFile::access() {
  constexpr size_t kGrowth = size_t{1} << 20U;
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(access.get(), kGrowth, /*backing_store=*/hbool_t{false});
  H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG);
  H5FD_file_image_callbacks_t callbacks{};
  callbacks.image_realloc = resize;
  callbacks.image_free = keep;
  callbacks.udata = this;
  callbacks.udata_copy = same_user_data;
  callbacks.udata_free = forget_user_data;
  H5Pset_file_image_callbacks(access.get(), &callbacks);
  return access;
}

}  // namespace tpack::hdf5
