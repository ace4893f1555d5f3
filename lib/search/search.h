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
  int jobs = 1;         // at a time; they share the processors
  bool retry_failed = false;
};

/// What has become of a search.
struct SearchOutcome {
  SearchRecord record;
  bool was_interrupted = false;
};

/// Trains the runs of a search in folders of their own, each in a process of its own, so that one that fails
/// ends no other. Goes on with what sweep.json in the folder of the search says: runs that are done are not
/// trained again. A request to stop is passed on to the runs, which save checkpoints. Writes sweep.json
/// after each change and sweep.csv at the end. Errors: ConfigError if the folder has another search, with
/// what differs; ResourceError.
SearchOutcome run_search(const PlannedSearch& planned, const SearchJobs& jobs, const std::string& config,
                         const Interruption& interruption);

/// Errors: ConfigError if a run has more towers than its part of the processors.
void require_processors(const PlannedSearch& planned, int jobs);

/// The processors of each of so many jobs, in turn: parts of `own` of equal size, of which no more than
/// `available` are used in all.
std::vector<std::vector<int>> processors_of_jobs(const std::vector<int>& own, size_t available, size_t jobs);

}  // namespace tpack
