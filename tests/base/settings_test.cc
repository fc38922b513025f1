#include "base/settings.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace burn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr auto kPath = "docs/settings.md";

// Sets an environment variable during its lifetime.
class With {
 public:
  With(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~With() { ::unsetenv(name_); }
  With(const With&) = delete;
  With& operator=(const With&) = delete;

 private:
  const char* const name_;
};

TEST(Settings, AreEmptyUnlessTheEnvironmentHasThem) {
  EXPECT_EQ(setting(Setting::capture), "");
  EXPECT_FALSE(is_off(Setting::capture));
  const With check{"BURN_CAPTURE", "check"};
  EXPECT_EQ(setting(Setting::capture), "check");
}

TEST(Settings, AreReadAsNumbersWhereTheyAreOnes) {
  EXPECT_EQ(numeric_setting(Setting::stream_bytes), std::nullopt);
  const With bytes{"BURN_STREAM_BYTES", "1000000000000"};
  EXPECT_EQ(numeric_setting(Setting::stream_bytes), 1'000'000'000'000u);
}

TEST(Settings, ThatAreMistypedAreAnErrorAndNotTheDefault) {
  EXPECT_TRUE(check_settings().ok()) << check_settings().message();
  {
    const With threads{"BURN_NUM_THREADS", "4 threads"};
    EXPECT_THAT(check_settings().message(), AllOf(HasSubstr("BURN_NUM_THREADS=4 threads"), HasSubstr("a number")));
  }
  {
    const With fusion{"BURN_FUSION", "false"};
    EXPECT_THAT(check_settings().message(), AllOf(HasSubstr("BURN_FUSION=false"), HasSubstr("may be off")));
  }
  const With fusion{"BURN_FUSION", "on"};
  EXPECT_TRUE(check_settings().ok());
}

TEST(Settings, OfSeveralChoicesTakeAnyOfThem) {
  for (const char* level : {"baseline", "v3", "best"}) {
    const With isa{"BURN_ISA", level};
    EXPECT_TRUE(check_settings().ok()) << level;
  }
  for (const char* level : {"v4", "baseline or v3", "base", "or"}) {
    const With isa{"BURN_ISA", level};
    EXPECT_THAT(check_settings().message(), HasSubstr("may be baseline or v3")) << level;
  }
}

TEST(Settings, AnOptionOverridesTheEnvironment) {
  const With isa{"BURN_ISA", "best"};
  override_setting(Setting::isa, "baseline");
  EXPECT_EQ(setting(Setting::isa), "baseline");
}

TEST(Settings, AreListedByHelp) {
  for (const auto& row : settings()) EXPECT_THAT(settings_help(), HasSubstr(std::string{row.variable}));
}

TEST(Settings, AreWhatDocsSettingsMdSays) {
  if (std::getenv("BURN_UPDATE_DOCS")) std::ofstream{kPath} << settings_markdown();
  std::ostringstream text;
  text << std::ifstream{kPath}.rdbuf();
  EXPECT_EQ(text.str(), settings_markdown()) << kPath << " is out of date: run this test with BURN_UPDATE_DOCS=1";
}

}  // namespace
}  // namespace burn
