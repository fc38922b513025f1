// The table of metrics, its samples as text, and the document that is printed from it.
#include "daemon/operator/metrics.h"

#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/operator/process_metrics.h"

namespace burn::daemon {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kPath = "docs/operate/metrics.md";  // tests run in the repository's root

TEST(Metrics, HaveNamesTypesAndLabelsThatPrometheusTakes) {
  const std::regex name{"(burn|process)_[a-z][a-z_]*[a-z]"}, label{"[a-z][a-z_]*"};
  std::set<std::string_view> names;
  std::size_t k = 0;
  for (const auto& row : metrics()) {
    EXPECT_EQ(static_cast<std::size_t>(row.metric), k++);
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " is there twice";
    EXPECT_TRUE(std::regex_match(std::string{row.name}, name)) << row.name;
    EXPECT_EQ(row.name.ends_with("_total"), row.type == MetricInfo::Type::counter) << row.name;
    EXPECT_FALSE(row.help.ends_with('.')) << row.name;
    EXPECT_EQ(row.help.find('\n'), std::string_view::npos) << row.name;
    for (const auto& each : row.label_list()) EXPECT_TRUE(std::regex_match(std::string{each.name}, label)) << row.name;
  }
}

TEST(Metrics, LabelsSayTheirValues) {
  const auto list = info(Metric::device_memory).label_list();
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].name, "device");
  EXPECT_TRUE(list[0].values.empty());
  EXPECT_EQ(list[1].name, "use");
  EXPECT_EQ(list[1].values, (std::vector<std::string_view>{"tensors", "idle", "host"}));
}

TEST(Samples, AreTextInTheOrderOfTheTable) {
  Samples samples;
  samples.add(Metric::runs, 7, {"cuda:0"});
  samples.add(Metric::ready, 1);
  samples.add(Metric::runs, 12'345'678'901, {"cpu"});
  EXPECT_EQ(samples.to_text(),
            "# HELP burn_ready 1 while /readyz answers 200\n"
            "# TYPE burn_ready gauge\n"
            "burn_ready 1\n"
            "# HELP burn_runs_total Runs of programs that were started\n"
            "# TYPE burn_runs_total counter\n"
            "burn_runs_total{device=\"cuda:0\"} 7\n"
            "burn_runs_total{device=\"cpu\"} 12345678901\n");
}

TEST(Samples, EscapeWhatIsNotPlainText) {
  Samples samples;
  samples.add(Metric::runs, 1, {"a\"b\\c\nd\xff"});
  EXPECT_THAT(samples.to_text(), HasSubstr("burn_runs_total{device=\"a\\\"b\\\\c\\\\nd\\\\xff\"} 1\n"));
}

TEST(Samples, AreBoundedInNumber) {
  Samples samples;
  for (std::size_t k = 0; k < Samples::kMaxSeries + 500; ++k) samples.add(Metric::runs, 1, {fmt::format("cuda:{}", k)});
  EXPECT_EQ(samples.size(), Samples::kMaxSeries);
  EXPECT_THAT(samples.to_text(), Not(HasSubstr(fmt::format("cuda:{}\"", Samples::kMaxSeries))));
}

TEST(Samples, HistogramsAreCumulative) {
  Samples samples;
  samples.add(Metric::run_seconds, {.bounds = {0.1, 1}, .counts = {2, 0, 3}, .sum = 12.5}, {"cpu"});
  EXPECT_THAT(samples.to_text(), HasSubstr("# TYPE burn_run_seconds histogram\n"
                                           "burn_run_seconds_count{device=\"cpu\"} 5\n"
                                           "burn_run_seconds_sum{device=\"cpu\"} 12.5\n"
                                           "burn_run_seconds_bucket{device=\"cpu\",le=\"0.1\"} 2\n"
                                           "burn_run_seconds_bucket{device=\"cpu\",le=\"1\"} 2\n"
                                           "burn_run_seconds_bucket{device=\"cpu\",le=\"+Inf\"} 5\n"));
  EXPECT_EQ(samples.size(), 5u);
}

TEST(ProcessMetrics, SayWhatTheSystemSays) {
  Samples samples;
  collect_process(samples);
  const auto text = samples.to_text();
  for (const auto* name : {"process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds",
                           "process_max_fds", "process_threads", "process_start_time_seconds"}) {
    const std::regex line{fmt::format("\n{} ([0-9.e+]+)\n", name)};
    std::smatch found;
    ASSERT_TRUE(std::regex_search(text, found, line)) << name << " in " << text;
    if (std::string_view{name} == "process_cpu_seconds_total") continue;  // may be 0
    EXPECT_GT(std::stod(found[1]), 0) << name;
  }
}

std::string written() {
  std::ostringstream text;
  text << std::ifstream{kPath}.rdbuf();
  return text.str();
}

TEST(Metrics, AreWhatTheDocumentSays) {
  if (std::getenv("BURN_UPDATE_DOCS")) std::ofstream{kPath} << metrics_markdown();
  EXPECT_EQ(written(), metrics_markdown()) << kPath << " is out of date: run this test with BURN_UPDATE_DOCS=1";
}

}  // namespace
}  // namespace burn::daemon
