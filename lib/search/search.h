#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "run/train.h"
#include "search/plan_search.h"

namespace tpack {

/// How the runs of a search are started.
struct SearchJobs {
  std::string program;  // as it was called
  int jobs = 1;         // at the same time; they share the processors
  bool retry_failed = false;
};

/// The state of a search.
struct SearchOutcome {
  SearchRecord record;
  bool was_interrupted = false;
};

/// Trains each run of a search in a separate folder and process, so that a failure does not end the others.
/// Continues from sweep.json in the folder of the search: finished runs are not trained again. A stop request
/// is passed on to the runs, which save checkpoints. Writes sweep.json after each change and sweep.csv at the
/// end. Errors: ConfigError if the folder has another search, with what differs; ResourceError.
SearchOutcome run_search(const PlannedSearch& planned, const SearchJobs& jobs, const std::string& config,
                         const Interruption& interruption);

/// Errors: ConfigError if a run has more towers than its share of the processors.
void require_processors(const PlannedSearch& planned, int jobs);

/// The processors of each job: equal parts of `own`, with at most `available` processors in total.
std::vector<std::vector<int>> processors_of_jobs(const std::vector<int>& own, size_t available, size_t jobs);

}  // namespace tpack
