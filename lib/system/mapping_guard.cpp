#include "system/mapping_guard.h"

#include <atomic>
#include <csignal>
#include <functional>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#include "core/error.h"

namespace tpack {

/// The list of all guards. The handler of SIGBUS reads it, so its lock is a flag: a thread that holds it
/// never reads mapped memory, and so never waits for itself.
struct GuardedMappings {
  std::atomic_flag lock = ATOMIC_FLAG_INIT;
  MappingGuard* first = nullptr;
  std::atomic<bool> has_lost = false;
  std::string lost_before;  // the path of a lost mapping that has ended without a check
  struct sigaction before = {};

  static GuardedMappings& all() {
    static GuardedMappings mappings;
    return mappings;
  }

  template <class F>
  auto locked(F&& f) {
    while (lock.test_and_set(std::memory_order_acquire)) continue;
    struct Unlock {
      std::atomic_flag& lock;
      ~Unlock() { lock.clear(std::memory_order_release); }
    } unlock{lock};
    return f();
  }

  void add(MappingGuard& guard) {
    locked([&] { guard.next_ = std::exchange(first, &guard); });
  }
  void remove(const MappingGuard& guard) {
    locked([&] {
      MappingGuard** at = &first;
      while (*at != &guard) at = &(*at)->next_;
      *at = guard.next_;
      if (guard.is_lost_ && !guard.is_reported_) lost_before = guard.path_;
    });
  }
  /// In the handler. Replaces the rest of the mapping by zeros; false for an address outside of all.
  bool replace(const void* address) {
    return locked([&] {
      const auto* at = static_cast<const uint8_t*>(address);
      for (MappingGuard* one = first; one != nullptr; one = one->next_) {
        const std::span<const uint8_t> mapped = one->mapped_;
        if (std::less<>{}(at, mapped.data()) || !std::less<>{}(at, mapped.data() + mapped.size())) continue;
        one->is_lost_ = true;
        has_lost = true;
        const auto page_bytes = static_cast<size_t>(::getpagesize());
        const size_t begin = static_cast<size_t>(at - mapped.data()) / page_bytes * page_bytes;
        const std::span<const uint8_t> rest = mapped.subspan(begin);
        void* const zeros = ::mmap(const_cast<uint8_t*>(rest.data()), rest.size(), PROT_READ,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
        return zeros != MAP_FAILED;
      }
      return false;
    });
  }
  /// The path of a lost mapping; "" if there is none any more.
  std::string take_lost() {
    return locked([&] {
      for (MappingGuard* one = first; one != nullptr; one = one->next_) {
        if (!one->is_lost_) continue;
        one->is_reported_ = true;
        return one->path_;
      }
      has_lost = false;
      return std::exchange(lost_before, "");
    });
  }
};

namespace {

void on_bus_error(int number, siginfo_t* info, void* context) {
  GuardedMappings& all = GuardedMappings::all();
  if (all.replace(info->si_addr)) return;
  if ((all.before.sa_flags & SA_SIGINFO) != 0 && all.before.sa_sigaction != nullptr) {
    all.before.sa_sigaction(number, info, context);
    return;
  }
  if (all.before.sa_handler != SIG_DFL && all.before.sa_handler != SIG_IGN) {
    all.before.sa_handler(number);
    return;
  }
  // The instruction runs again, and ends the program.
  ::sigaction(SIGBUS, &all.before, nullptr);
}

void watch_bus_errors() {
  static const bool kIsWatching = [] {
    struct sigaction action = {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    return ::sigaction(SIGBUS, &action, &GuardedMappings::all().before) == 0;
  }();
  (void)kIsWatching;
}

}  // namespace

MappingGuard::MappingGuard(std::span<const uint8_t> mapped, std::string path)
    : mapped_(mapped), path_(std::move(path)) {
  watch_bus_errors();
  GuardedMappings::all().add(*this);
}

MappingGuard::~MappingGuard() { GuardedMappings::all().remove(*this); }

void check_mapped_files() {
  GuardedMappings& all = GuardedMappings::all();
  if (!all.has_lost) return;
  const std::string path = all.take_lost();
  if (!path.empty())
    throw DataError(path, "changed while it was read: it became shorter, or the disk cannot read it");
}

}  // namespace tpack
