#include <algorithm>
#include <filesystem>
#include <lmdb.h>

#include "core/error.h"
#include "records/format/pickle_writer.h"
#include "records/writer/record_writer.h"

namespace tpack {
namespace {

/// Records as tensorpack's LMDBSerializer writes them: the key is the number of the sample in eight digits,
/// the value a pickle of the list of its components. An image is an array of the bytes of its file.
class LmdbWriter final : public RecordWriter {
 public:
  LmdbWriter(const std::string& folder, Spec spec) : spec_(std::move(spec)), path_(folder + "/data") {
    constexpr size_t kMostBytes = size_t{1} << 42U;  // of addresses, not of the disk
    check(mdb_env_create(&env_));
    check(mdb_env_set_mapsize(env_, kMostBytes));
    // Its lock belongs to the thread that begins a transaction; any thread may append. The folder is ours.
    check(mdb_env_open(env_, path_.c_str(), MDB_NOSUBDIR | MDB_NOLOCK, 0644));
    begin();
    MDB_stat stat{};
    check(mdb_stat(transaction_, database_, &stat));
    samples_ = static_cast<int64_t>(stat.ms_entries);
  }
  ~LmdbWriter() override { close(); }
  LmdbWriter(const LmdbWriter&) = delete;
  LmdbWriter& operator=(const LmdbWriter&) = delete;

  int64_t samples() const override { return samples_; }
  std::string encode(Datapoint& sample, int64_t /*index*/) const override {
    PickledList list;
    for (size_t i = 0; i < spec_.size(); ++i) {
      if (sample.is_image(i) && sample.image(i).encoded()) {
        const auto bytes = sample.image(i).encoded_bytes();
        list.add_bytes({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      } else {
        list.add(sample.to_tensor(i));
      }
    }
    return list.finish();
  }
  void append(std::string encoded) override { put(key_of(samples_++), encoded, MDB_APPEND); }
  void save() override {
    check(mdb_txn_commit(std::exchange(transaction_, nullptr)));
    begin();
  }
  void finish(const std::string& path) override {
    PickledList keys;
    for (int64_t i = 0; i < samples_; ++i) keys.add_text_bytes(key_of(i));
    put("__keys__", keys.finish(), 0);
    check(mdb_txn_commit(std::exchange(transaction_, nullptr)));
    check(mdb_env_sync(env_, 1));
    close();
    std::filesystem::rename(path_, path);
  }
  std::vector<ComponentOfField> components() const override {
    std::vector<ComponentOfField> all;
    for (size_t i = 0; i < spec_.size(); ++i) all.push_back(component_as(spec_[i], std::to_string(i)));
    return all;
  }

 private:
  void check(int result) const {
    if (result != MDB_SUCCESS) throw ResourceError(path_ + ": cannot be written: " + mdb_strerror(result));
  }
  void begin() {
    check(mdb_txn_begin(env_, nullptr, 0, &transaction_));
    check(mdb_dbi_open(transaction_, nullptr, 0, &database_));
  }
  void close() {
    if (transaction_ != nullptr) mdb_txn_abort(std::exchange(transaction_, nullptr));
    if (env_ != nullptr) mdb_env_close(std::exchange(env_, nullptr));
  }
  void put(std::string key, std::string_view value, unsigned flags) {
    MDB_val name{key.size(), key.data()};
    MDB_val content{value.size(), const_cast<char*>(value.data())};  // only read
    check(mdb_put(transaction_, database_, &name, &content, flags));
  }
  static std::string key_of(int64_t index) {
    constexpr size_t kDigits = 8;
    std::string key = std::to_string(index);
    return std::string(kDigits - std::min(kDigits, key.size()), '0') + key;
  }

  Spec spec_;
  std::string path_;
  MDB_env* env_ = nullptr;
  MDB_txn* transaction_ = nullptr;
  MDB_dbi database_ = 0;
  int64_t samples_ = 0;
};

}  // namespace

std::unique_ptr<RecordWriter> lmdb_writer(const std::string& folder, const Spec& spec) {
  return std::make_unique<LmdbWriter>(folder, spec);
}

}  // namespace tpack
