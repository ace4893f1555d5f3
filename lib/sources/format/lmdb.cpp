#include "sources/format/lmdb.h"

#include <algorithm>
#include <filesystem>
#include <lmdb.h>
#include <unistd.h>

#include "core/error.h"
#include "core/text.h"
#include "sources/format/lmdb_pages.h"
#include "system/input_file.h"
#include "system/mapped_file.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

/// The folders in a folder that hold a database, for messages.
std::vector<std::string> databases_in(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (fs::exists(at->path() / "data.mdb", error)) found.push_back(at->path().filename().string());
  }
  return found;
}

/// Errors: DataError if there is no file to open.
void check_lmdb_file(const std::string& path, const std::string& file) {
  std::error_code gone;
  if (!fs::exists(path, gone)) throw DataError(path, "no such LMDB database");
  if (!fs::is_regular_file(file, gone)) {
    const std::vector<std::string> inside = databases_in(path);
    throw DataError(path, inside.empty()
                              ? "is not an LMDB database: it has no data.mdb"
                              : "has no data.mdb; these folders inside it have one: " + join_first(inside));
  }
  if (fs::file_size(file, gone) == 0) throw DataError(file, "is empty");
}

}  // namespace

/// An environment with one open transaction.
struct LmdbReader::Handle {
  MDB_env* env = nullptr;
  MDB_txn* transaction = nullptr;
  MDB_cursor* cursor = nullptr;

  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (cursor != nullptr) mdb_cursor_close(cursor);
    if (transaction != nullptr) mdb_txn_abort(transaction);
    if (env != nullptr) mdb_env_close(env);
  }
};

std::string lmdb_file(const std::string& path) {
  std::error_code gone;
  return fs::is_directory(path, gone) ? (fs::path(path) / "data.mdb").string() : path;
}

LmdbReader::LmdbReader(const std::string& path) : handle_(std::make_unique<Handle>()) {
  const std::string file = lmdb_file(path);
  check_lmdb_file(path, file);
  check_lmdb_pages(MappedFile(file).bytes(), file);
  const auto check = [&file](int result) {
    if (result != MDB_SUCCESS)
      throw DataError(file, std::string("cannot be read by LMDB: ") + mdb_strerror(result));
  };
  check(mdb_env_create(&handle_->env));
  const unsigned is_file = file == path ? MDB_NOSUBDIR : 0U;
  check(mdb_env_open(handle_->env, path.c_str(), MDB_RDONLY | MDB_NOLOCK | is_file, 0));
  MDB_stat pages{};
  MDB_envinfo info{};
  check(mdb_env_stat(handle_->env, &pages));
  check(mdb_env_info(handle_->env, &info));
  // Reading past the end of a mapped file would end the program.
  const uint64_t promised = (uint64_t{info.me_last_pgno} + 1) * pages.ms_psize;
  const uint64_t bytes = fs::file_size(file);
  if (bytes < promised) {
    throw DataError(file, "is truncated: it has " + with_thousands(static_cast<int64_t>(bytes)) + " of " +
                              with_thousands(static_cast<int64_t>(promised)) + " bytes; copy it again");
  }
  check(mdb_txn_begin(handle_->env, nullptr, MDB_RDONLY, &handle_->transaction));
  MDB_dbi database = 0;
  check(mdb_dbi_open(handle_->transaction, nullptr, 0, &database));
  check(mdb_cursor_open(handle_->transaction, database, &handle_->cursor));
  MDB_val key{};
  MDB_val value{};
  int result = MDB_SUCCESS;
  while ((result = mdb_cursor_get(handle_->cursor, &key, &value, MDB_NEXT)) == MDB_SUCCESS) {
    records_.push_back({{static_cast<const char*>(key.mv_data), key.mv_size},
                        {static_cast<const uint8_t*>(value.mv_data), value.mv_size}});
  }
  if (result != MDB_NOTFOUND) check(result);
  if (records_.empty()) throw DataError(file, "has no records");
  guard(file);
}

LmdbReader::~LmdbReader() = default;

std::string LmdbReader::stamp() const {
  int file = -1;
  mdb_env_get_fd(handle_->env, &file);
  return InputFile::stamp_of(file);
}

/// liblmdb does not say where the file is mapped.
void LmdbReader::guard(const std::string& file) {
  const uint8_t* begin = records_[0].value.data();
  const uint8_t* end = begin;
  for (const Entry& one : records_) {
    const auto* key = reinterpret_cast<const uint8_t*>(one.key.data());
    begin = std::min({begin, key, one.value.data()});
    end = std::max({end, key + one.key.size(), one.value.data() + one.value.size()});
  }
  const size_t before = reinterpret_cast<uintptr_t>(begin) % static_cast<size_t>(::getpagesize());
  guard_.emplace(std::span(begin - before, end), file);
}

}  // namespace tpack
