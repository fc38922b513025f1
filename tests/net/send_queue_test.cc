#include "net/transport/send_queue.h"

#include <gtest/gtest.h>

namespace burn::net {
namespace {

proto::EncodedFrame named(std::string name) { return {std::move(name), {}}; }

// The next frame's name; "none" where there is no frame.
std::string next_of(SendQueue& queue) {
  const auto next = queue.next();
  return next.frame ? next.frame->header : "none";
}

TEST(SendQueue, StartsThePumpOncePerBurst) {
  SendQueue queue;
  EXPECT_TRUE(queue.push(named("a"), proto::Lane::control));
  EXPECT_FALSE(queue.push(named("b"), proto::Lane::control));
  EXPECT_EQ(next_of(queue), "a");
  EXPECT_FALSE(queue.push(named("c"), proto::Lane::control));
  EXPECT_EQ(next_of(queue), "b");
  EXPECT_EQ(next_of(queue), "c");
  EXPECT_FALSE(queue.next().frame);
  EXPECT_TRUE(queue.push(named("d"), proto::Lane::control));
}

TEST(SendQueue, StartsThePumpAtTheEndOfABurst) {
  SendQueue queue;
  queue.begin_burst();
  queue.begin_burst();
  EXPECT_FALSE(queue.push(named("a"), proto::Lane::control));
  EXPECT_FALSE(queue.push(named("b"), proto::Lane::control));
  EXPECT_FALSE(queue.end_burst());
  EXPECT_TRUE(queue.end_burst());
  EXPECT_EQ(next_of(queue), "a");
  EXPECT_EQ(next_of(queue), "b");
  EXPECT_FALSE(queue.next().frame);
  queue.begin_burst();
  EXPECT_FALSE(queue.end_burst()) << "nothing was said";
}

TEST(SendQueue, KnowsWhetherBulkWaits) {
  SendQueue queue;
  queue.begin_burst();
  EXPECT_FALSE(queue.push(named("a"), proto::Lane::control));
  EXPECT_FALSE(queue.has_bulk());
  EXPECT_FALSE(queue.push(named("b"), proto::Lane::bulk));
  EXPECT_TRUE(queue.has_bulk());
  EXPECT_TRUE(queue.end_burst());
  EXPECT_EQ(next_of(queue), "a");
  EXPECT_TRUE(queue.has_bulk());
  EXPECT_EQ(next_of(queue), "b");
  EXPECT_FALSE(queue.has_bulk());
}

TEST(SendQueue, FlushesInTheMiddleOfABurst) {
  SendQueue queue;
  queue.begin_burst();
  EXPECT_FALSE(queue.flush());
  EXPECT_FALSE(queue.push(named("a"), proto::Lane::control));
  EXPECT_TRUE(queue.flush());
  EXPECT_FALSE(queue.push(named("b"), proto::Lane::control));
  EXPECT_EQ(next_of(queue), "a");
  EXPECT_EQ(next_of(queue), "b");
  EXPECT_FALSE(queue.next().frame);
  EXPECT_FALSE(queue.push(named("c"), proto::Lane::control));
  EXPECT_TRUE(queue.end_burst());
}

TEST(SendQueue, GivesControlFramesFirst) {
  SendQueue queue;
  queue.push(named("bulk 1"), proto::Lane::bulk);
  queue.push(named("bulk 2"), proto::Lane::bulk);
  queue.push(named("control 1"), proto::Lane::control);
  queue.push(named("control 2"), proto::Lane::control);
  for (const char* expected : {"control 1", "control 2", "bulk 1", "bulk 2"}) {
    EXPECT_EQ(next_of(queue), expected);
  }
}

TEST(SendQueue, CountsBytesUntilTheyAreWritten) {
  SendQueue queue;
  queue.push(named("four"), proto::Lane::control);
  queue.push({"ab", SharedBytes::own(std::vector<char>(10))}, proto::Lane::bulk);
  constexpr auto kFrame = SendQueue::kFrameBytes;  // an empty frame counts, too
  EXPECT_EQ(queue.bytes(), 16 + 2 * kFrame);
  (void)queue.next();
  EXPECT_EQ(queue.bytes(), 16 + 2 * kFrame);
  queue.written();
  EXPECT_EQ(queue.bytes(), 12 + kFrame);
  (void)queue.next();
  EXPECT_EQ(queue.bytes(), 12 + kFrame);
  queue.written();
  EXPECT_EQ(queue.bytes(), 0u);
}

TEST(SendQueue, FinishesWhenItIsClosedAndEmpty) {
  SendQueue queue;
  queue.push(named("last"), proto::Lane::bulk);
  EXPECT_FALSE(queue.close());  // the pump is on its way
  EXPECT_FALSE(queue.push(named("late"), proto::Lane::control));
  EXPECT_EQ(next_of(queue), "last");
  const auto end = queue.next();
  EXPECT_FALSE(end.frame);
  EXPECT_TRUE(end.finished);
  EXPECT_FALSE(queue.close());
}

TEST(SendQueue, StartsThePumpToFinishWhenItIsIdle) {
  SendQueue queue;
  EXPECT_TRUE(queue.close());
  EXPECT_TRUE(queue.next().finished);
}

TEST(SendQueue, DropsEverythingWhenTheTransportBreaks) {
  SendQueue queue;
  const auto owner = std::make_shared<int>();
  queue.push({"x", SharedBytes{owner, {}}}, proto::Lane::bulk);
  EXPECT_FALSE(queue.discard());  // the pump is on its way
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_EQ(queue.bytes(), 0u);
  EXPECT_FALSE(queue.push(named("y"), proto::Lane::control));
  EXPECT_FALSE(queue.close());
  EXPECT_FALSE(queue.wake());
  EXPECT_FALSE(queue.next().finished);  // over, but not in order
  EXPECT_TRUE(SendQueue().discard());
}

TEST(SendQueue, WakesThePumpForOtherThings) {
  SendQueue queue;
  EXPECT_TRUE(queue.wake());
  EXPECT_FALSE(queue.wake());
  EXPECT_FALSE(queue.next(true).frame);
  EXPECT_FALSE(queue.push(named("a"), proto::Lane::control));  // it stayed
  EXPECT_TRUE(queue.next(true).frame);
  EXPECT_FALSE(queue.next().frame);
  EXPECT_TRUE(queue.wake());
}

}  // namespace
}  // namespace burn::net
