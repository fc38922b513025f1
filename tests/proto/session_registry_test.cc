#include "proto/session_registry.h"

#include <gtest/gtest.h>

namespace burn::proto {
namespace {

TEST(SessionRegistry, AsksTheFactoryOfTheScheme) {
  std::string asked;
  register_scheme("test", [&](const std::string& url) -> Result<std::unique_ptr<Session>> {
    asked += url + " ";
    return unavailable("no server there");
  });
  for (const auto* url : {"test", "test:3", "test://host:1/2"}) {
    EXPECT_EQ(open_session(url).status(), unavailable("no server there"));
  }
  EXPECT_EQ(asked, "test test:3 test://host:1/2 ");
}

TEST(SessionRegistry, NamesTheSchemesThereAre) {
  register_scheme("known", [](const std::string&) -> Result<std::unique_ptr<Session>> { return unavailable("no"); });
  const auto status = open_session("tset://host").status();
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_NE(status.message().find("\"tset://host\""), std::string::npos);
  EXPECT_NE(status.message().find("known"), std::string::npos);
}

}  // namespace
}  // namespace burn::proto
