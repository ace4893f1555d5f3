#include "monitor/event_file.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "core/clock.h"
#include "core/error.h"
#include "monitor/event_reader.h"
#include "support/failing_file_io.h"
#include "support/temporary_folder.h"

namespace tpack {
namespace {

TEST(EventFile, has_a_name_that_tensorboard_looks_for) {
  const TemporaryFolder folder;
  const EventFile first(folder.str());
  const EventFile second(folder.str());
  ASSERT_EQ(folder.names().size(), 2U);
  EXPECT_THAT(folder.names()[0], testing::MatchesRegex("events.out.tfevents.[0-9]{10}.*[.][0-9]+[.][0-9]+"));
}

TEST(EventFile, begins_with_the_version) {
  const TemporaryFolder folder;
  const EventFile file(folder.str());
  const auto records = read_records(content_of(file.path()));
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(field(records[0], 3), "brain.Event:2");
  EXPECT_NEAR(fixed<double>(field(records[0], 1)), wall_time_s(), 600);
}

TEST(EventFile, writes_records_once_flushed) {
  const TemporaryFolder folder;
  EventFile file(folder.str());
  file.add_restart(7);
  file.add_summary(ProtoMessage().bytes(1, std::string(300, 'x')), 1234567);
  EXPECT_EQ(read_records(content_of(file.path())).size(), 1U);
  file.flush();
  const auto records = read_records(content_of(file.path()));
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(fixed<int64_t>(field(records[1], 2)), 7);
  EXPECT_EQ(fixed<int64_t>(field(field(records[1], 7), 1)), 1);
  EXPECT_EQ(fixed<int64_t>(field(records[2], 2)), 1234567);
  EXPECT_EQ(field(field(records[2], 5), 1), std::string(300, 'x'));
}

TEST(EventFile, says_what_it_cannot_write) {
  const TemporaryFolder folder;
  FailingFileIo io(2, ENOSPC);
  EXPECT_THROW(EventFile(folder.str(), io), ResourceError);
}

}  // namespace
}  // namespace tpack
