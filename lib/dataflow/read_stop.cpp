#include "dataflow/read_stop.h"

#include <utility>

namespace tpack {
namespace {

thread_local std::stop_token stop_of_reads;

}  // namespace

ReadStop::ReadStop(std::stop_token stop) : before_(std::exchange(stop_of_reads, std::move(stop))) {}

ReadStop::~ReadStop() { stop_of_reads = std::move(before_); }

bool ReadStop::requested() { return stop_of_reads.stop_requested(); }

}  // namespace tpack
