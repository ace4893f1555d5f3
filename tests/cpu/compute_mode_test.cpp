#include "cpu/compute_mode.h"

#include <atomic>
#include <csignal>
#include <pthread.h>
#include <thread>

#include <gtest/gtest.h>

#include "backend/open_device.h"
#include "graph/builder.h"
#include "ops/matmul.h"

namespace tpack {
namespace {

/// The stack of the thread that computes, and where handlers ran.
std::atomic<uintptr_t> stack_begin;
std::atomic<uintptr_t> stack_end;
std::atomic<int> handled = 0;
std::atomic<int> elsewhere = 0;

void note_where(int /*signal*/) {
  const auto at = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  ++handled;
  if (at < stack_begin || at >= stack_end) ++elsewhere;
}

void learn_stack() {
  pthread_attr_t attributes;
  void* begin = nullptr;
  size_t size = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &begin, &size);
  pthread_attr_destroy(&attributes);
  stack_begin = reinterpret_cast<uintptr_t>(begin);
  stack_end = stack_begin + size;
}

TEST(ComputeMode, keeps_handlers_off_the_thread_as_long_as_it_lives) {
  struct sigaction before = {};
  struct sigaction action = {};
  action.sa_handler = note_where;
  sigaction(SIGUSR1, &action, &before);
  handled = 0;
  {
    const cpu::ComputeMode mode;
    pthread_kill(pthread_self(), SIGUSR1);
    EXPECT_EQ(handled, 0);
  }
  EXPECT_EQ(handled, 1);
  sigaction(SIGUSR1, &before, nullptr);
}

// oneDNN's gemm moves the stack pointer to the heap, where the frame of a handler destroyed memory.
TEST(ComputeMode, lets_handlers_run_on_stacks_only) {
  VariableTable table;
  const auto device =
      open_device("cpu:0", DeviceOptions{.algorithm = DeviceOptions::Algorithm::kDirect, .threads = 2});
  Graph graph;
  Builder b(graph, table, {});
  const TensorSpec left = {DType::kFloat32, {100, 4096}};
  const TensorSpec right = {DType::kFloat32, {4096, 100}};
  b.fetch("product", matmul(b, b.input("left", left), b.input("right", right)));
  PlanSection section;
  device->create_variables(table);
  const auto executable = device->compile(graph, section);
  const std::vector<Tensor> inputs = {Tensor::zeros(left), Tensor::zeros(right)};

  struct sigaction before = {};
  struct sigaction action = {};
  action.sa_handler = note_where;
  sigaction(SIGUSR1, &action, &before);
  learn_stack();
  handled = elsewhere = 0;
  const pthread_t computing = pthread_self();
  std::jthread sender([computing](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      pthread_kill(computing, SIGUSR1);
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < 200 || handled == 0; ++i) executable->run(inputs, {});
  sender.request_stop();
  sender.join();
  EXPECT_EQ(elsewhere, 0) << "of " << handled << " handlers";
  sigaction(SIGUSR1, &before, nullptr);
}

}  // namespace
}  // namespace tpack
