#include "support/apart_device.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <sys/mman.h>
#include <utility>
#include <vector>

#include "backend/engine/engine_device.h"
#include "backend/engine/reference_kernel.h"

namespace tpack {
namespace {

size_t whole_pages(size_t bytes) {
  constexpr size_t kPage = 4096;
  return (std::max<size_t>(bytes, 1) + kPage - 1) / kPage * kPage;
}

/// From an address that is given out to its bytes.
constexpr size_t kDistance = size_t{1} << 30U;

class ApartQueue final : public KernelQueue {
 public:
  ApartQueue(int threads, ApartMemory& memory) : threads_(threads), memory_(memory) {}
  int threads() const override { return threads_; }
  void wait() override { memory_.run_submitted(); }
  ApartMemory& memory() const { return memory_; }

 private:
  int threads_;
  ApartMemory& memory_;
};

/// Submits another kernel with copies of its arguments.
class SubmittedKernel final : public Kernel {
 public:
  explicit SubmittedKernel(std::unique_ptr<Kernel> kernel) : kernel_(std::move(kernel)) {}
  void run(const KernelArgs& args) override {
    auto* queue = static_cast<ApartQueue*>(args.queue);
    const std::vector<std::byte*> in(args.in.begin(), args.in.end());
    const std::vector<std::byte*> out(args.out.begin(), args.out.end());
    queue->memory().submit([this, in, out, scratch = args.scratch, info = *args.info, queue] {
      kernel_->run({in, out, scratch, &info, queue});
    });
  }

 private:
  std::unique_ptr<Kernel> kernel_;
};

/// The kernels of the reference, in plain layout.
class ApartLibrary final : public KernelLibrary {
 public:
  const std::string& hardware() const override { return hardware_; }
  std::string version() const override { return "1"; }
  Graph rewritten(const Graph& graph) const override { return copy_of(graph); }
  LayoutRule rule(const Node& /*node*/) const override { return LayoutRule::kPlain; }
  bool accepts(const Node& /*node*/, Layout layout) const override { return layout == Layout::kPlain; }
  std::vector<Way> ways(const Node& /*node*/, bool /*only_direct*/) const override { return {}; }
  PreparedKernel prepare(const KernelRequest& request) const override {
    PreparedKernel prepared = prepare_reference(request, "", &own_address);
    prepared.kernel = std::make_unique<SubmittedKernel>(std::move(prepared.kernel));
    return prepared;
  }
  std::unique_ptr<Kernel> reorder(const Format& from, const Format& to, int /*pieces*/,
                                  uint64_t& /*scratch_bytes*/) const override {
    TPACK_ASSERT(same_memory(from, to), "all formats are plain");
    const size_t bytes = from.bytes();
    return std::make_unique<SubmittedKernel>(make_kernel([bytes](const KernelArgs& args) {
      std::memcpy(own_address(args.out[0]), own_address(args.in[0]), bytes);
    }));
  }

 private:
  static std::byte* own_address(std::byte* address) { return ApartMemory::shadow(address); }
  std::string hardware_ = "apart";
};

}  // namespace

std::byte* ApartMemory::shadow(const std::byte* address) {
  return const_cast<std::byte*>(address) + kDistance;
}

std::shared_ptr<Storage> ApartMemory::allocate_zeros(size_t bytes) {
  const size_t length = kDistance + whole_pages(bytes);
  void* const begin = mmap(nullptr, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) throw ResourceError(name_ + ": not enough memory");
  auto* address = static_cast<std::byte*>(begin);
  if (bytes > kDistance || mprotect(shadow(address), whole_pages(bytes), PROT_READ | PROT_WRITE) != 0) {
    munmap(begin, length);
    throw ResourceError(name_ + ": not enough memory");
  }
  const std::shared_ptr<const void> owner(begin, [length](void* p) { munmap(p, length); });
  return std::make_shared<Storage>(address, bytes, owner, *this);
}

void ApartMemory::run_submitted() {
  while (!submitted_.empty()) {
    const std::function<void()> kernel = std::move(submitted_.front());
    submitted_.pop_front();
    kernel();
  }
}

void ApartMemory::read(std::byte* to, const std::byte* from, size_t bytes) {
  run_submitted();
  std::memcpy(to, shadow(from), bytes);
}

void ApartMemory::write(std::byte* to, const std::byte* from, size_t bytes) {
  run_submitted();
  std::memcpy(shadow(to), from, bytes);
}

void ApartMemory::copy(std::byte* to, const std::byte* from, size_t bytes) {
  run_submitted();
  std::memcpy(shadow(to), shadow(from), bytes);
}

std::unique_ptr<Device> make_apart_device(const std::string& name, const DeviceOptions& options) {
  // Tests open few of them: each keeps its memory until the end of the process.
  static auto& memories = *new std::deque<ApartMemory>();
  ApartMemory& memory = memories.emplace_back(name);
  const int threads = options.threads;
  return make_engine_device(
      name, options,
      {.library = std::make_unique<ApartLibrary>(),
       .open_queue = [threads, &memory] { return std::make_unique<ApartQueue>(threads, memory); },
       .memory = &memory});
}

}  // namespace tpack
