// The header of W3C Trace Context.
#include "base/trace_context.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace burn {
namespace {

constexpr const char* kHeader = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(TraceContext, IsReadFromAndWrittenAsTraceparent) {
  const auto context = parse_traceparent(kHeader);
  ASSERT_TRUE(context.ok()) << context.status().to_string();
  EXPECT_EQ(context->trace_high, 0x4bf92f3577b34da6u);
  EXPECT_EQ(context->trace_low, 0xa3ce929d0e0e4736u);
  EXPECT_EQ(context->span, 0x00f067aa0ba902b7u);
  EXPECT_TRUE(context->is_sampled);
  EXPECT_EQ(to_traceparent(*context), kHeader);
  const std::string unsampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
  EXPECT_FALSE(parse_traceparent(unsampled)->is_sampled);
  EXPECT_EQ(to_traceparent(*parse_traceparent(unsampled)), unsampled);
  EXPECT_TRUE(parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff")->is_sampled)
      << "other flags are not looked at";
  EXPECT_TRUE(parse_traceparent("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-will-be").ok())
      << "a later version may have more";
}

TEST(TraceContext, TextsThatAreNoTraceparentAreRefusedWithTheText) {
  const std::string longer = std::string{kHeader} + "-more";
  for (const std::string text : {"", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
                                 "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
                                 "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
                                 "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
                                 "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                                 "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
                                 "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                                 "00-4bf92f3577b34da6+3ce929d0e0e4736-00f067aa0ba902b7-01", longer.c_str()}) {
    const auto context = parse_traceparent(text);
    ASSERT_FALSE(context.ok()) << text;
    EXPECT_EQ(context.status().code(), StatusCode::invalid_argument);
    EXPECT_NE(context.status().message().find("\"" + text + "\""), std::string::npos) << context.status().message();
  }
}

TEST(TraceContext, IdsAreRandomAndNotZero) {
  std::set<std::uint64_t> ids;
  for (int k = 0; k < 1000; ++k) ids.insert(new_span_id());
  EXPECT_EQ(ids.size(), 1000u);
  EXPECT_FALSE(ids.contains(0));
  const auto trace = new_trace();
  EXPECT_TRUE(trace.is_sampled);
  EXPECT_FALSE(trace.exists()) << "it has no span yet";
  EXPECT_FALSE((TraceContext{.span = 1}).exists()) << "nor is there a trace of the number 0";
}

}  // namespace
}  // namespace burn
