// How far a loop may run ahead of a device, given when the device answers its marks.
#include "client/record/pacer.h"

#include <chrono>
#include <deque>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "tests/client/recording_session.h"

namespace burn::client {
namespace {

using namespace std::chrono_literals;

// Holds marks (syncs) until the test answers them.
class MarkingSession : public test::RecordingSession {
 public:
  MarkingSession() : RecordingSession(std::make_shared<test::RecordedCalls>()) {}
  void sync(SyncCallback done) override { marks_.push_back(std::move(done)); }
  std::size_t under_way() const { return marks_.size(); }
  void answer() {
    auto done = std::move(marks_.front());
    marks_.pop_front();
    done(ok_status());
  }

 private:
  std::deque<SyncCallback> marks_;
};

constexpr auto kRoundTrip = 100ms;

// Takes `steps` steps at once and then answers their marks one by one, as a device behind a long round trip would that
// takes `for_four` for every four steps.
void run_steps(Pacer& pacer, MarkingSession& session, int steps, std::chrono::milliseconds for_four = 2ms) {
  for (int i = 0; i < steps; ++i) pacer.step();
  std::this_thread::sleep_for(kRoundTrip);
  while (session.under_way() > 0) {
    std::this_thread::sleep_for(for_four);
    session.answer();
  }
}

TEST(Pacer, ALoopOnADeviceFarAwayIsLetAheadByWhatTheDeviceDoesInEightRoundTrips) {
  MarkingSession session;
  Pacer pacer(session, [] { return kRoundTrip; });
  const auto at_first = pacer.ahead();
  EXPECT_GT(at_first, Pacer::kMaxAhead);
  run_steps(pacer, session, 50);
  EXPECT_GT(pacer.ahead(), at_first) << "a step takes half a millisecond";
}

// Steps take 10 ms, so 20 of them fill two round trips. Later steps, of a validation loop, may take only 2.5 ms.
TEST(Pacer, ThereIsRoomForShorterStepsThatFollow) {
  MarkingSession session;
  Pacer pacer(session, [] { return kRoundTrip; });
  run_steps(pacer, session, 60, 40ms);
  EXPECT_GE(pacer.ahead(), 60u);
  EXPECT_LE(pacer.ahead(), Pacer::kMaxAhead + 80u);
}

TEST(Pacer, ADeviceThatIsNotThereYetIsTakenForOneFarAwayUntilItIs) {
  MarkingSession session;
  std::optional<std::chrono::nanoseconds> trip;
  Pacer pacer(session, [&] { return trip; });
  const auto at_first = pacer.ahead();
  EXPECT_GT(at_first, 2 * Pacer::kMaxAhead);
  for (std::uint64_t i = 0; i < at_first; ++i) pacer.step();  // none of these waits
  trip = 50us;
  while (session.under_way() > 0) session.answer();
  pacer.step();
  EXPECT_EQ(pacer.ahead(), Pacer::kMaxAhead);
}

TEST(Pacer, APauseOfTheProgramIsNoStepsTime) {
  MarkingSession session;
  Pacer pacer(session, [] { return kRoundTrip; });
  run_steps(pacer, session, 50);
  const auto before = pacer.ahead();
  std::this_thread::sleep_for(1s);  // as if a checkpoint were written
  run_steps(pacer, session, 9);     // two marks: the window of four would reach back over the pause
  EXPECT_EQ(pacer.ahead(), before);
}

}  // namespace
}  // namespace burn::client
