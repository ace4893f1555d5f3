#include "tensor/memory.h"

#include <cstring>
#include <string>

#include <gmock/gmock-matchers.h>

#include "core/error.h"
#include "support/limited_address_space.h"
#include "system/machine.h"
#include "tensor/tensor.h"

namespace tpack {
namespace {

/// Memory that the host is not to use, and what was asked of it.
class NotedMemory final : public Memory {
 public:
  const std::string& name() const override { return name_; }
  std::shared_ptr<Storage> allocate_zeros(size_t bytes) override {
    auto inside = Storage::allocate_zeros(bytes);
    return std::make_shared<Storage>(inside->data(), bytes, inside, *this);
  }
  void read(std::byte* to, const std::byte* from, size_t bytes) override { note("read", to, from, bytes); }
  void write(std::byte* to, const std::byte* from, size_t bytes) override { note("write", to, from, bytes); }
  void copy(std::byte* to, const std::byte* from, size_t bytes) override { note("copy", to, from, bytes); }
  std::string noted() { return std::exchange(noted_, ""); }

 private:
  void note(const char* what, std::byte* to, const std::byte* from, size_t bytes) {
    std::memcpy(to, from, bytes);
    noted_ += std::string(what) + " ";
  }

  std::string name_ = "noted";
  std::string noted_;
};

const TensorSpec kThree = {DType::kFloat32, {3}};

TEST(Memory, of_a_device_is_read_and_written_through_it) {
  NotedMemory memory;
  const Tensor there(kThree, memory.allocate_zeros(12));
  EXPECT_FALSE(there.on_host());
  EXPECT_EQ(&there.memory(), &memory);
  there.copy_from(Tensor::of<float>({3}, {1, 2, 3}));
  EXPECT_EQ(memory.noted(), "write ");
  EXPECT_TRUE(bit_equal(there.host(), Tensor::of<float>({3}, {1, 2, 3})));
  EXPECT_EQ(memory.noted(), "read ");
  EXPECT_EQ(there.window({DType::kFloat32, {2}}, 4).clone().at(1), 3);
  EXPECT_EQ(memory.noted(), "read ");
}

TEST(Memory, copies_within_itself_and_between_two) {
  NotedMemory first;
  NotedMemory second;
  const Tensor a(kThree, first.allocate_zeros(12));
  const Tensor b(kThree, first.allocate_zeros(12));
  const Tensor c(kThree, second.allocate_zeros(12));
  a.copy_from(Tensor::of<float>({3}, {1, 2, 3}));
  EXPECT_EQ(first.noted(), "write ");
  b.copy_from(a);
  EXPECT_EQ(first.noted(), "copy ");
  c.copy_from(b);
  EXPECT_EQ(first.noted() + second.noted(), "read write ");
  EXPECT_EQ(c.host().at(1), 2);
  b.copy_from(b);
  EXPECT_EQ(first.noted(), "");
}

TEST(Memory, of_the_host_is_shared) {
  const Tensor a = Tensor::of<float>({3}, {1, 2, 3});
  EXPECT_TRUE(a.on_host());
  EXPECT_EQ(a.host().raw(), a.raw());
  EXPECT_NE(a.clone().raw(), a.raw());
  EXPECT_THROW(a.window(kThree, 4), InternalError);
  EXPECT_THROW(a.copy_from(Tensor::of<float>({2}, {1, 2})), InternalError);
}

TEST(Memory, of_a_device_cannot_be_used_by_the_host) {
  NotedMemory memory;
  const Tensor there(kThree, memory.allocate_zeros(12));
  EXPECT_THAT([&] { (void)there.at(0); }, testing::ThrowsMessage<InternalError>(
                                              testing::HasSubstr("the host cannot use the memory of noted")));
}

/// Large blocks of zeros take memory only when they are written to, so the system gives more than it has.
TEST(Memory, that_was_promised_is_not_free) {
  const auto free = available_memory();
  ASSERT_TRUE(free.has_value());
  constexpr size_t kPromises = 5;
  const auto bytes = static_cast<size_t>(*free / (kPromises - 1));
  std::vector<std::shared_ptr<Storage>> blocks;
  const auto promise = [&] {
    while (blocks.size() < kPromises) blocks.push_back(Storage::allocate_zeros(bytes));
  };
  EXPECT_THAT(promise, testing::ThrowsMessage<ResourceError>(testing::HasSubstr("not enough memory")));
  EXPECT_GE(blocks.size(), 2U);
  blocks.clear();
  EXPECT_NO_THROW(Storage::allocate_zeros(bytes)) << "it was given back";
}

TEST(Memory, is_limited_by_what_the_process_may_map) {
  std::string rejected;
  {
    const LimitedAddressSpace limited(100'000'000);
    if (limited.is_lower()) GTEST_SKIP() << "the limit of this process is lower";
    ASSERT_TRUE(limited.is_set());
    try {
      require_memory(50'000'000);
      require_memory(200'000'000);
    } catch (const ResourceError& error) {
      rejected = error.what();
    }
  }
  EXPECT_THAT(rejected, testing::StartsWith("not enough memory for a tensor of 200"));
  EXPECT_THAT(rejected, testing::HasSubstr("ulimit -v"));
}

}  // namespace
}  // namespace tpack
