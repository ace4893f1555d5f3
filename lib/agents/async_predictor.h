#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "agents/agent.h"

namespace tpack {

/// Answers the questions of many threads with one predictor: a thread of its own takes whatever
/// questions wait and asks them together. Threads: any. The destructor ends the thread; no thread may be
/// asking then. Source: tensorpack predict/concurrency.py, MultiThreadAsyncPredictor.
class AsyncPredictor {
 public:
  /// `predictor` must outlive it; it is asked about `batch` observations at a time, of which those that
  /// nobody asked for mean nothing.
  AsyncPredictor(BatchPredictor& predictor, int64_t batch, const TensorSpec& observation);
  ~AsyncPredictor();
  AsyncPredictor(const AsyncPredictor&) = delete;
  AsyncPredictor& operator=(const AsyncPredictor&) = delete;

  /// Waits for the outputs for one observation, each [1, ...]. Errors: what the predictor throws; Stopped
  /// after `stop`.
  std::vector<Tensor> ask(const Tensor& observation);
  /// Those that ask, now or later, get Stopped.
  void stop();

 private:
  struct Question {
    const Tensor* observation;
    std::vector<Tensor> answer = {};
    std::exception_ptr error = nullptr;
    bool is_answered = false;
  };
  void work();
  void answer(const std::vector<Question*>& questions);

  BatchPredictor& predictor_;
  const size_t batch_;
  const Tensor observations_;  // [batch, ...], of the thread alone
  std::mutex mutex_;           // what follows
  std::condition_variable asked_;
  std::condition_variable answered_;
  std::vector<Question*> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace tpack
