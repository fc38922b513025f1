#include "daemon/operator/report.h"

#include <limits>
#include <string>

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

TEST(Report, APageSaysNumbersWithTheirUnits) {
  const Report report{
      .tables = {{.name = "devices",
                  .columns = {"name", "memory_in_use_bytes", "memory_limit_bytes", "busy_seconds", "runs"},
                  .rows = {{std::string{"cpu"}, std::uint64_t{512}, std::uint64_t{16'059'328}, 26.7771,
                            std::uint64_t{746}}}}}};
  const auto html = to_html(report, "burn");
  EXPECT_THAT(html, HasSubstr("<th>memory in use</th>"));
  EXPECT_THAT(html, HasSubstr("<td class=n>512 B</td><td class=n>15.3 MiB</td>"));
  EXPECT_THAT(html, HasSubstr("<th>busy seconds</th>"));
  EXPECT_THAT(html, HasSubstr("<td class=n>26.777 s</td><td class=n>746</td>"));
  const auto all = to_html(one_cell(std::numeric_limits<std::uint64_t>::max()), "burn");
  EXPECT_THAT(all, HasSubstr("<td class=n>18446744073709551615</td>"));  // without a unit as it is
}

TEST(Report, APageTurnsTablesOfManyColumnsAndFewRows) {
  Report::Table wide{.name = "t", .columns = {}, .rows = {{}, {}}};
  for (std::uint64_t c = 0; c < 8; ++c) {
    wide.columns.push_back("c" + std::to_string(c));
    for (auto& row : wide.rows) row.emplace_back(c);
  }
  EXPECT_THAT(to_html({.tables = {wide}}, "burn"),
              HasSubstr("<tr><th>c7</th><td class=n>7</td><td class=n>7</td></tr>"));
  wide.rows.resize(8, wide.rows.front());
  EXPECT_THAT(to_html({.tables = {wide}}, "burn"), HasSubstr("<th>c6</th><th>c7</th></tr>"));
}

}  // namespace
}  // namespace burn::daemon
