#include "dataflow/count_classes.h"

#include <gtest/gtest.h>

namespace tpack {
namespace {

std::string counts(const std::vector<std::string>& names, const std::vector<int32_t>& numbers) {
  std::string text;
  for (const auto& [name, samples] : count_classes(names, numbers))
    text += name + ":" + std::to_string(samples) + " ";
  return text;
}

TEST(CountClasses, counts_in_the_order_of_the_labels) {
  EXPECT_EQ(counts({"a", "b", "c"}, {1, 1, 0, 1}), "a:1 b:3 c:0 ");
}

TEST(CountClasses, leaves_out_what_is_no_class) {
  EXPECT_EQ(counts({"a", "b"}, {-1, 1, 2, 7}), "a:0 b:1 ");
  EXPECT_EQ(counts({}, {-1, 3, 1}), ":0 :1 :0 :1 ") << "without names, the largest number says how many";
  EXPECT_EQ(counts({}, {}), "");
}

}  // namespace
}  // namespace tpack
