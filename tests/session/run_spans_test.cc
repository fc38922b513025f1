// A run of a session as spans.
#include "session/run_spans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/session/programs.h"

namespace burn::session {
namespace {

using namespace std::chrono_literals;
using testing::SizeIs;

const Span::Attribute* find(const Span& span, std::string_view key) {
  const auto found = std::ranges::find(span.attributes, key, &Span::Attribute::key);
  return found == span.attributes.end() ? nullptr : &*found;
}
std::string text(const Span& span, std::string_view key) {
  const auto* attribute = find(span, key);
  return attribute ? std::get<std::string>(attribute->value) : "";
}

TEST(RunSpans, ARunIsItsTimeInTheQueueAndItsExecutionWithWhatItWaitedFor) {
  const TraceContext caller{.trace_high = 1, .trace_low = 2, .span = 3, .is_sampled = true};
  const RunDurations times{.queued = 2ms, .took = 30ms, .inputs = 1ms, .turn = 4ms, .collectives = 7ms};
  const auto program = add_program({4});
  const serving::TenantAccount tenant{"vision"};
  const auto spans = run_spans(caller, times, "cpu", &tenant, program.get(), {});
  ASSERT_THAT(spans, SizeIs(3));
  const auto &run = spans[0], &queue = spans[1], &execute = spans[2];
  EXPECT_EQ(run.name, "run");
  EXPECT_EQ(run.kind, Span::Kind::server);
  EXPECT_EQ(run.trace, caller);
  EXPECT_EQ(run.end - run.begin, 32ms);
  EXPECT_EQ(text(run, "burn.device"), "cpu");
  EXPECT_EQ(text(run, "burn.tenant"), "vision");
  EXPECT_EQ(text(run, "burn.program"), ir::to_string(program->hash));
  EXPECT_EQ(text(run, "burn.first_op"), "add");
  EXPECT_EQ(std::get<std::uint64_t>(find(run, "burn.nodes")->value), 1u);
  for (const auto* part : {&queue, &execute}) {
    EXPECT_EQ(part->trace, within(caller, run.id));
    EXPECT_EQ(part->kind, Span::Kind::internal);
  }
  EXPECT_EQ(queue.name, "queue");
  EXPECT_EQ(queue.begin, run.begin);
  EXPECT_EQ(queue.end - queue.begin, 2ms);
  EXPECT_EQ(execute.name, "execute");
  EXPECT_EQ(execute.begin, queue.end);
  EXPECT_EQ(execute.end, run.end);
  EXPECT_EQ(std::get<std::chrono::nanoseconds>(find(execute, "burn.wait.inputs")->value), 1ms);
  EXPECT_EQ(std::get<std::chrono::nanoseconds>(find(execute, "burn.wait.tenants")->value), 4ms);
  EXPECT_EQ(std::get<std::chrono::nanoseconds>(find(execute, "burn.collectives")->value), 7ms);
}

TEST(RunSpans, AFailureHasTheNameOfItsStatusAlone) {
  const auto spans = run_spans(new_trace(), {}, "cpu", nullptr, nullptr, invalid_argument("tensor 7 is not known"));
  ASSERT_THAT(spans, SizeIs(3));
  EXPECT_EQ(spans[0].result, StatusCode::invalid_argument);
  EXPECT_EQ(spans[0].trace.span, 0u);
  EXPECT_THAT(spans[0].attributes, SizeIs(1)) << "the device";
  EXPECT_EQ(find(spans[2], "burn.collectives"), nullptr);
}

}  // namespace
}  // namespace burn::session
