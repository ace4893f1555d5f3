#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

TPACK_REGISTER(Source, Counting, "Counting");
TPACK_REGISTER(Source, CountingInOrder, "CountingInOrder");
TPACK_REGISTER(Map, Picky, "Picky");

}  // namespace
}  // namespace tpack
