#include "comm/grouped_comm.h"

#include <cstdlib>
#include <limits>

#include "core/error.h"

namespace tpack {
namespace {

/// Texts as one: the length of each, a colon, the text.
std::string packed(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += std::to_string(text.size()) + ":" + text;
  return all;
}

void unpack(const std::string& all, std::vector<std::string>& texts) {
  for (size_t at = 0; at < all.size();) {
    const size_t colon = all.find(':', at);
    TPACK_ASSERT(colon != std::string::npos, "texts that were not packed");
    const size_t size = std::strtoull(all.c_str() + at, nullptr, 10);
    texts.push_back(all.substr(colon + 1, size));
    at = colon + 1 + size;
  }
}

class GroupedComm final : public Comm {
 public:
  GroupedComm(Comm& local, Comm& world) : local_(local), world_(world) {}

  int rank() const override { return world_.rank() * local_.size() + local_.rank(); }
  int size() const override { return world_.size() * local_.size(); }
  void all_reduce_sum(std::span<float> values, const char* stage, Compression compression) override {
    reduce(values, stage, [&] { world_.all_reduce_sum(values, stage, compression); });
  }
  void all_reduce_sum(std::span<double> values, const char* stage) override {
    reduce(values, stage, [&] { world_.all_reduce_sum(values, stage); });
  }
  void reduce_sum(std::span<float> values, const char* stage, Compression compression) override {
    reduce_first(values, stage, [&] { world_.all_reduce_sum(values, stage, compression); });
  }
  void reduce_sum(std::span<double> values, const char* stage) override {
    reduce_first(values, stage, [&] { world_.all_reduce_sum(values, stage); });
  }
  void broadcast(std::span<std::byte> bytes, int root, const char* stage) override {
    const bool of_this_process = root / local_.size() == world_.rank();
    if (of_this_process && root % local_.size() != 0) local_.broadcast(bytes, root % local_.size(), stage);
    if (speaks()) world_.broadcast(bytes, root / local_.size(), stage);
    local_.broadcast(bytes, 0, stage);
  }
  int agree_max(int value, const char* stage) override {
    const int here = local_.agree_max(value, stage);
    const int all = speaks() ? world_.agree_max(here, stage) : std::numeric_limits<int>::min();
    return local_.agree_max(all, stage);
  }
  std::vector<std::string> all_gather(const std::string& text, const char* stage) override {
    const std::string here = packed(local_.all_gather(text, stage));
    const std::string all = speaks() ? packed(world_.all_gather(here, stage)) : "";
    std::vector<std::string> processes;
    unpack(local_.all_gather(all, stage)[0], processes);
    std::vector<std::string> texts;
    for (const std::string& process : processes) unpack(process, texts);
    return texts;
  }
  void set_timeout(double seconds) override {
    if (speaks()) world_.set_timeout(seconds);
  }
  void set_urgent(bool urgent) override {
    local_.set_urgent(urgent);
    if (speaks()) world_.set_urgent(urgent);
  }
  void cancel() override {
    local_.cancel();
    if (speaks()) world_.cancel();
  }
  uint64_t bytes_sent() const override { return world_.bytes_sent(); }

 private:
  void tell_busy(const std::string& what) override {
    local_.busy_with(what);
    if (speaks()) world_.busy_with(what);
  }
  /// For its process.
  bool speaks() const { return local_.rank() == 0; }
  template <class T, class OverProcesses>
  void reduce(std::span<T> values, const char* stage, const OverProcesses& over_processes) {
    local_.all_reduce_sum(values, stage);
    if (speaks()) over_processes();
    local_.broadcast(std::as_writable_bytes(values), 0, stage);
  }

  template <class T, class OverProcesses>
  void reduce_first(std::span<T> values, const char* stage, const OverProcesses& over_processes) {
    local_.reduce_sum(values, stage);
    if (speaks()) over_processes();
    local_.agree_max(0, stage);
  }

  Comm& local_;
  Comm& world_;
};

}  // namespace

std::unique_ptr<Comm> make_grouped_comm(Comm& local, Comm& world) {
  return std::make_unique<GroupedComm>(local, world);
}

}  // namespace tpack
