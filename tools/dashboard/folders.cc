#include "tools/dashboard/folders.h"

#include <algorithm>
#include <optional>
#include <ostream>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "train/events/csv_text.h"
#include "train/events/event_file.h"

namespace burn::dashboard_tool {
namespace {

namespace fs = std::filesystem;
namespace events = burn::train::events;

struct Row {
  std::int64_t step;
  std::string text;
};

// The rows of one run. Rows after the step at which a run was resumed are dropped, because the resumed run repeated
// those steps.
std::vector<Row> rows_of(const fs::path& run, const std::string& metric, std::set<std::string>& measured) {
  std::vector<events::MetricInfo> metrics;
  std::vector<Row> rows;
  const auto is_wanted = [&](std::int32_t index) {
    return index >= 0 && static_cast<std::size_t>(index) < metrics.size() &&
           metrics[static_cast<std::size_t>(index)].name == metric;
  };
  const auto add = [&](train::Split split, std::string_view kind, std::string_view epoch,
                       const events::MetricPoint& p) {
    const auto number = [&](double value) { return p.count > 0 ? events::csv_number(value) : ""; };
    rows.push_back({p.step, fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", events::csv_text(run.string()),
                                        train::name(split), events::csv_text(metric), kind, epoch, p.first_step, p.step,
                                        p.count, number(p.mean), number(p.min), number(p.max))});
  };
  events::EventFileReader reader{run / "events"};
  while (const auto event = reader.next()) {
    if (const auto* start = std::get_if<events::Start>(&event->body)) {
      metrics = start->metrics;
      for (const auto& info : metrics) measured.insert(info.name);
      std::erase_if(rows, [&](const Row& row) { return row.step > start->step; });
    } else if (const auto* point = std::get_if<events::MetricPoint>(&event->body)) {
      if (is_wanted(point->metric)) add(point->split, "steps", "", *point);
    } else if (const auto* end = std::get_if<events::SplitEnd>(&event->body)) {
      for (const auto& [index, value] : end->values) {
        if (is_wanted(index))
          add(end->split, "epoch", std::to_string(end->epoch),
              events::MetricPoint::of(index, end->split, end->step, value));
      }
    }
  }
  return rows;
}

}  // namespace

void write_csv(const Folders& runs, const std::string& metric, std::ostream& out) {
  std::set<std::string> measured;
  bool has_rows = false;
  for (const auto& run : runs) {
    for (const auto& row : rows_of(run, metric, measured)) {
      if (!has_rows) out << "run,split,metric,kind,epoch,first_step,step,count,mean,min,max\n";
      has_rows = true;
      out << row.text;
    }
  }
  if (has_rows || measured.contains(metric)) return;
  throw Error(StatusCode::not_found,
              fmt::format("no run measures \"{}\"; there are: {}", metric, fmt::join(measured, ", ")));
}

Folders old_runs(const Folders& runs, double days) {
  Folders old;
  for (const auto& run : runs) {
    if (events::is_locked(run / "events")) continue;
    std::optional<std::int64_t> last_us;
    events::EventFileReader reader{run / "events"};
    while (const auto event = reader.next()) last_us = event->time_us;
    if (last_us && static_cast<double>(events::now_us() - *last_us) / 86400e6 > days) old.push_back(run);
  }
  return old;
}

std::uintmax_t remove_run(const fs::path& folder) {
  std::uintmax_t bytes = 0;
  for (const char* name : {"checkpoint", "metrics.jsonl", "output.log", "experiment.log", "events"}) {
    const auto path = folder / name;
    if (!fs::exists(path)) continue;
    if (fs::is_directory(path)) {
      for (const auto& entry : fs::recursive_directory_iterator(path))
        bytes += entry.is_regular_file() ? entry.file_size() : 0;
    } else {
      bytes += fs::file_size(path);
    }
    fs::remove_all(path);
  }
  if (fs::is_empty(folder)) fs::remove(folder);
  return bytes;
}

}  // namespace burn::dashboard_tool
