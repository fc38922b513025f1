#include "client/record/program_table.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/record/device_state.h"
#include "client/tensor/tensor.h"
#include "tests/client/recording_session.h"
#include "tests/support/error_of.h"

namespace burn::client {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

proto::SessionInfo session_of(std::uint64_t programs, std::uint64_t entries) {
  proto::SessionInfo info;
  info.max_programs = programs;
  info.max_program_entries = entries;
  return info;
}

ir::ProgramHash hash(std::uint64_t k) { return {k, 0}; }

TEST(ProgramTable, ForgetsTheLeastRecentlyRunAndUsesNoIdTwice) {
  ProgramTable table(session_of(4, 0));  // the table uses half of the limit: two
  EXPECT_EQ(table.add(hash(1), 1).id, 1u);
  EXPECT_EQ(table.add(hash(2), 1).id, 2u);
  EXPECT_EQ(table.find(hash(1)), 1u);
  const auto third = table.add(hash(3), 1);
  EXPECT_EQ(third.id, 3u);
  EXPECT_THAT(third.forgotten, ElementsAre(2));
  EXPECT_EQ(table.find(hash(2)), std::nullopt);
  EXPECT_EQ(table.find(hash(1)), 1u);
  EXPECT_THAT(table.add(hash(2), 1).forgotten, ElementsAre(3));
}

TEST(ProgramTable, IsBoundedByTheSizeOfProgramsToo) {
  ProgramTable table(session_of(0, 200));
  for (std::uint64_t k = 1; k <= 10; ++k) EXPECT_THAT(table.add(hash(k), 10).forgotten, IsEmpty());
  EXPECT_THAT(table.add(hash(11), 25).forgotten, ElementsAre(1, 2, 3));
  EXPECT_EQ(table.add(hash(12), 1000).forgotten.size(), 8u);  // larger than the limit: it replaces all others
  EXPECT_EQ(table.find(hash(12)), 12u);
}

TEST(ProgramTable, TellsOfForgottenProgramsLaterIfTheSessionWasNotTold) {
  ProgramTable table(session_of(2, 0));
  table.add(hash(1), 1);
  table.take_back(hash(2), table.add(hash(2), 1).forgotten);
  EXPECT_EQ(table.find(hash(2)), std::nullopt);
  EXPECT_THAT(table.add(hash(3), 1).forgotten, ElementsAre(1));
}

TEST(ProgramTable, ThatKnowsNothingOfTheSessionTakesAFewProgramsAndKeepsToWhatItIsTold) {
  ProgramTable table;
  EXPECT_FALSE(table.is_bounded());
  for (std::uint64_t k = 1; k <= ProgramTable::kInitialMaxPrograms; ++k) {
    EXPECT_FALSE(table.is_full());
    EXPECT_THAT(table.add(hash(k), 1).forgotten, IsEmpty());
  }
  EXPECT_TRUE(table.is_full());
  table.bound(session_of(2 * ProgramTable::kInitialMaxPrograms - 2, 0));
  EXPECT_TRUE(table.is_bounded());
  EXPECT_THAT(table.add(hash(100), 1).forgotten, ElementsAre(1, 2));
}

// Refuses every program of more than one node, as a connection does with frames that are too large.
class RefusingSession final : public test::RecordingSession {
 public:
  using RecordingSession::RecordingSession;
  Status define(proto::ProgramId id, std::shared_ptr<const ir::Program> program,
                std::vector<proto::ProgramId> forget) override {
    if (program->nodes.size() > 1) return resource_exhausted("a frame of 70000000 bytes");
    return RecordingSession::define(id, std::move(program), std::move(forget));
  }
};

TEST(RefusedProgram, IsNeverRunAndItsResultsSayWhy) {
  const auto calls = std::make_shared<test::RecordedCalls>();
  {
    const Device device = Device::from_session("test:", std::make_unique<RefusingSession>(calls));
    const auto x = Tensor<1>::from_data({1, 2}, device);
    const auto large = (x + x) * x;
    device.sync();
    EXPECT_TRUE(calls->runs.empty());
    EXPECT_THAT(test::error_of([&] { (void)large.to_data(); }), HasSubstr("a frame of 70000000 bytes"));
    EXPECT_THAT(test::error_of([&] { (void)(large + 1).to_data(); }), HasSubstr("a frame of 70000000 bytes"));
    device.sync();
    EXPECT_NO_THROW((void)(x + x).to_data());  // other programs still run
  }
  EXPECT_THAT(calls->released, Not(Contains(2)));  // tensors that were never computed are not released
}

}  // namespace
}  // namespace burn::client
