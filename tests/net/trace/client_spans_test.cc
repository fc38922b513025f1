// The sink of a client's program, as its settings say.
#include "net/trace/client_spans.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/settings.h"
#include "tests/support/http_collector.h"
#include "tests/support/sanitized.h"
#include "tests/support/span_list.h"

namespace burn::net {
namespace {

using testing::HasSubstr;

// In a process of its own, as the sink is the process's: returns the status that `body` exits with.
template <typename Body>
int in_child(const Body& body) {
  const auto child = ::fork();
  if (child == 0) std::exit(body());
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class ClientSpans : public ::testing::Test {
 protected:
  void SetUp() override {
    if (test::kSanitized) GTEST_SKIP() << "children of a fork start threads";
  }
  void TearDown() override {
    override_setting(Setting::otlp, "");
    override_setting(Setting::trace_one_in, "");
  }
};

TEST_F(ClientSpans, ThereAreNoneUnlessBurnOtlpIsSet) { EXPECT_EQ(*client_spans(), nullptr); }

TEST_F(ClientSpans, AUrlThatMakesNoSenseIsAnErrorThatNamesTheVariable) {
  override_setting(Setting::otlp, "https://collector:4318");
  const auto spans = client_spans();
  ASSERT_FALSE(spans.ok());
  EXPECT_EQ(spans.status().code(), StatusCode::invalid_argument);
  EXPECT_THAT(spans.status().message(), HasSubstr("BURN_OTLP: \"https://collector:4318\": traces are sent in plain"));
}

TEST_F(ClientSpans, AreSentAtTheEndOfTheProcessUnderItsName) {
  test::HttpCollector collector;
  override_setting(Setting::otlp, collector.url());
  override_setting(Setting::trace_one_in, "2");
  const auto status = in_child([] {
    const auto spans = client_spans();
    if (!spans.ok() || !*spans || *client_spans() != *spans) return 2;
    const auto first = (*spans)->choose({});
    if (!first || (*spans)->choose({})) return 3;  // one in two
    (*spans)->add({{.trace = *first, .id = 7, .kind = Span::Kind::client, .name = "call"}});
    return 0;
  });
  EXPECT_EQ(status, 0);
  const auto posted = test::posted_spans(collector.bodies());
  ASSERT_EQ(posted.size(), 1u);
  EXPECT_EQ(posted[0].id, "0000000000000007");
  EXPECT_EQ(posted[0].name, "call");
  EXPECT_EQ(posted[0].service, program_invocation_short_name);
}

}  // namespace
}  // namespace burn::net
