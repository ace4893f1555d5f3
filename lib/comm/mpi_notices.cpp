#include "comm/mpi_notices.h"

namespace tpack {
namespace {

constexpr int kNoticeTag = 2;

}  // namespace

MpiNotices::MpiNotices(MPI_Comm all) : all_(all) {
  MPI_Comm_rank(all_, &rank_);
  MPI_Comm_size(all_, &size_);
  busy_.resize(static_cast<size_t>(size_));
  answers_.resize(static_cast<size_t>(size_));
}

void MpiNotices::end() {
  MPI_Barrier(all_);
  read("");
  for (Sent& sent : sent_)
    MPI_Waitall(static_cast<int>(sent.requests.size()), sent.requests.data(), MPI_STATUSES_IGNORE);
  sent_.clear();
}

std::vector<int> MpiNotices::others() const {
  std::vector<int> ranks;
  for (int rank = 0; rank < size_; ++rank) {
    if (rank != rank_) ranks.push_back(rank);
  }
  return ranks;
}

void MpiNotices::busy_with(const std::string& what) { send(Kind::kBusy, what, others()); }

void MpiNotices::ask() {
  for (auto& answer : answers_) answer.reset();
  send(Kind::kQuestion, "", others());
}

void MpiNotices::send(Kind kind, const std::string& text, const std::vector<int>& to) {
  forget_what_has_arrived();
  Sent& sent = sent_.emplace_back();
  sent.notice.kind = kind;
  text.copy(sent.notice.text, sizeof sent.notice.text - 1);
  for (const int rank : to) {
    MPI_Isend(&sent.notice, sizeof sent.notice, MPI_BYTE, rank, kNoticeTag, all_,
              &sent.requests.emplace_back(MPI_REQUEST_NULL));
  }
}

void MpiNotices::forget_what_has_arrived() {
  sent_.remove_if([](Sent& sent) {
    int done = 0;
    MPI_Testall(static_cast<int>(sent.requests.size()), sent.requests.data(), &done, MPI_STATUSES_IGNORE);
    return done != 0;
  });
}

bool MpiNotices::read(const std::string& waits_at) {
  for (bool any = false;;) {
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, kNoticeTag, all_, &there, &status);
    if (there == 0) return any;
    Notice notice;
    MPI_Recv(&notice, sizeof notice, MPI_BYTE, status.MPI_SOURCE, kNoticeTag, all_, MPI_STATUS_IGNORE);
    const auto from = static_cast<size_t>(status.MPI_SOURCE);
    switch (notice.kind) {
      case Kind::kBusy:
        busy_[from] = notice.text;
        any = true;
        break;
      case Kind::kQuestion:
        if (!waits_at.empty()) send(Kind::kAnswer, waits_at, {status.MPI_SOURCE});
        break;
      case Kind::kAnswer:
        answers_[from] = notice.text;
        break;
    }
  }
}

}  // namespace tpack
