// Which trace the runs of a thread belong to.
#include "client/trace_scope.h"

#include <gtest/gtest.h>

#include "client/tensor/tensor.h"
#include "tests/client/recording_session.h"

namespace burn {
namespace {

TEST(TraceScopes, GiveTheirContextToTheRunsThatAreSentInThem) {
  const auto calls = std::make_shared<test::RecordedCalls>();
  const Device device = Device::from_session("test", std::make_unique<test::RecordingSession>(calls));
  const TraceContext outer{.trace_high = 1, .trace_low = 2, .span = 3, .is_sampled = true};
  const TraceContext inner{.trace_high = 1, .trace_low = 2, .span = 4};
  auto x = Tensor<1>::zeros({4}, device);
  const auto run = [&] {
    x = x + 1.0f;
    device.flush();
  };
  run();
  {
    const TraceScope scope{outer};
    run();
    {
      const TraceScope scope{inner};
      run();
    }
    run();
    {
      const TraceScope none{{}};
      run();
    }
  }
  run();
  ASSERT_EQ(calls->runs.size(), 6u);
  const TraceContext expected[] = {{}, outer, inner, outer, {}, {}};
  for (std::size_t k = 0; k < 6; ++k) EXPECT_EQ(calls->runs[k].trace, expected[k]) << k;
}

}  // namespace
}  // namespace burn
