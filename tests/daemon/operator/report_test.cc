#include "daemon/operator/report.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace burn::daemon {
namespace {

using testing::HasSubstr;
using testing::Not;

Report one_cell(Report::Value value) {
  return {.tables = {{.name = "t", .columns = {"c"}, .rows = {{std::move(value)}}}}};
}

TEST(Report, IsJsonWithAnArrayForEachTable) {
  const Report report{.tables = {{.name = "process", .columns = {"name", "ready"}, .rows = {{std::string{"w"}, true}}},
                                 {.name = "devices",
                                  .columns = {"runs", "busy_seconds"},
                                  .rows = {{std::uint64_t{7}, 0.5}, {std::uint64_t{0}, 0.0}}},
                                 {.name = "none", .columns = {"x"}, .rows = {}}}};
  EXPECT_EQ(to_json(report),
            "{\"process\":[{\"name\":\"w\",\"ready\":true}],"
            "\"devices\":[{\"runs\":7,\"busy_seconds\":0.5},{\"runs\":0,\"busy_seconds\":0}],\"none\":[]}\n");
}

TEST(Report, TextStaysWithinItsQuotes) {
  EXPECT_EQ(to_json(one_cell(std::string{"a\"b\\c\nd\xff"})), "{\"t\":[{\"c\":\"a\\\"b\\\\c\\\\nd\\\\xff\"}]}\n");
}

TEST(Report, NumbersThatJsonDoesNotHaveAreNull) {
  EXPECT_EQ(to_json(one_cell(std::numeric_limits<double>::infinity())), "{\"t\":[{\"c\":null}]}\n");
}

TEST(Report, IsAPageWhoseTextIsNoMarkup) {
  const auto html = to_html(one_cell(std::string{"<script>alert('&')</script>"}), "burn <1>");
  EXPECT_THAT(html, HasSubstr("<td>&lt;script&gt;alert('&amp;')&lt;/script&gt;</td>"));
  EXPECT_THAT(html, HasSubstr("<h1>burn &lt;1&gt;</h1>"));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
}

}  // namespace
}  // namespace burn::daemon
