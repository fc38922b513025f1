#include "train/dashboard/web/json.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "train/events/json_text.h"

namespace burn::train::dashboard {
namespace {

using events::json_text;

constexpr int kDigits = 7;  // more than a screen can show

std::string json_number(double value) { return events::json_number(value, kDigits); }

constexpr Split kAllSplits[] = {Split::train, Split::valid, Split::test};

std::string state_of(const BoardRun& run) {
  if (!run.problem.empty()) return "unreadable";
  if (const auto& end = run.state.end()) return std::string{events::name(end->reason)};
  if (!run.state.has_begun()) return "not begun";
  return run.is_running ? "running" : "ended without notice";
}

template <typename List, typename Text>
std::string list_of(const List& list, Text text) {
  std::string json = "[";
  for (const auto& value : list) {
    if (json.size() > 1) json += ',';
    json += text(value);
  }
  return json + "]";
}

std::string value_json(const EpochValue* value) {
  if (value == nullptr) return "null";
  return fmt::format(R"({{"epoch":{},"step":{},"value":{}}})", value->epoch, value->step, json_number(value->value));
}

std::string metric_json(const RunState& state, std::size_t index) {
  const auto& metric = state.metrics()[index];
  std::string splits, texts;
  for (const auto split : kAllSplits) {
    if (const auto& text = state.text(index, split); !text.empty())
      texts += fmt::format(R"({}"{}":{})", texts.empty() ? "" : ",", train::name(split), json_text(text));
    const auto& curve = state.curve(index, split);
    if (curve.empty()) continue;
    splits += fmt::format(R"({}"{}":{{"last":{},"best":{}}})", splits.empty() ? "" : ",", train::name(split),
                          value_json(curve.last ? &*curve.last : nullptr), value_json(curve.best()));
  }
  return fmt::format(
      R"({{"name":{},"higher":{},"decimals":{},"scientific":{},"unit":{},"splits":{{{}}},"texts":{{{}}}}})",
      json_text(metric.name), metric.higher_is_better, metric.format.decimals, metric.format.scientific,
      json_text(metric.format.unit), splits, texts);
}

std::string progress_json(const events::Progress& p) {
  return fmt::format(
      R"({{"split":"{}","epoch":{},"epochs":{},"items":{},"total":{},"skipped":{},"rate":{},"itemsPerSecond":{},"secondsLeft":{}}})",
      train::name(p.split), p.epoch, p.epochs, p.items, p.total_items, p.skipped, json_number(p.rate),
      json_number(p.items_per_second), json_number(p.seconds_left));
}

std::string messages_json(const RunState& state) {
  constexpr std::size_t kShown = 50;
  const auto& all = state.messages();
  std::vector<LoggedMessage> shown(all.end() - static_cast<std::ptrdiff_t>(std::min(all.size(), kShown)), all.end());
  return list_of(shown, [](const LoggedMessage& message) {
    return fmt::format(R"({{"time":{},"level":{},"text":{}}})", message.time_us / 1000, static_cast<int>(message.level),
                       json_text(message.text));
  });
}

std::string phases_json(const events::Phases& p) {
  return fmt::format(R"({{"data":{},"recording":{},"sending":{},"numbers":{},"checkpoint":{},"other":{},"advice":{}}})",
                     json_number(p.waiting_for_data), json_number(p.recording), json_number(p.sending),
                     json_number(p.waiting_for_numbers), json_number(p.checkpoint), json_number(p.other),
                     json_text(events::advice(p)));
}

std::string run_json(std::size_t id, const BoardRun& run) {
  const auto& state = run.state;
  std::string metrics;
  for (std::size_t i = 0; i < state.metrics().size(); ++i) metrics += (i > 0 ? "," : "") + metric_json(state, i);
  const auto left = state.seconds_left();
  const auto& use = state.device_use();
  const auto& checkpoint = state.checkpoint();
  const auto& progress = state.progress();
  const auto& phases = state.phases();
  return fmt::format(
      R"({{"id":{},"name":{},"folder":{},"device":{},"deviceUse":{},"state":{},"problem":{},"canStop":{},"first":{},"last":{},"step":{},"epoch":{},"epochs":{},"maxSteps":{},"secondsLeft":{},"checkpoint":{},"progress":{},"phases":{},"messages":{},"metrics":[{}]}})",
      id, json_text(state.start().name.empty() ? run.folder.filename().string() : state.start().name),
      json_text(run.folder.string()), json_text(state.start().device), use ? json_text(to_string(*use)) : "null",
      json_text(state_of(run)), json_text(run.problem), static_cast<bool>(run.stop) && !state.end(),
      state.first_us() / 1000, state.last_us() / 1000, state.step(), state.epoch(), state.start().epochs,
      state.start().max_steps, left ? json_number(*left) : "null",
      checkpoint ? fmt::format(R"({{"time":{},"step":{}}})", state.checkpoint_us() / 1000, checkpoint->step) : "null",
      progress ? progress_json(*progress) : "null", phases ? phases_json(*phases) : "null", messages_json(state),
      metrics);
}

std::string part_json(std::size_t run, const std::string& metric, Split split, bool by_epoch, const Series& series,
                      std::size_t from) {
  const auto& buckets = series.buckets();
  const std::vector<Bucket> part(buckets.begin() + static_cast<std::ptrdiff_t>(from), buckets.end());
  const auto number = [](double Bucket::*field) {
    return [field](const Bucket& bucket) { return json_number(bucket.count > 0 ? bucket.*field : std::nan("")); };
  };
  auto json = fmt::format(R"({{"run":{},"metric":{},"split":"{}","kind":"{}","from":{},"step":{},"mean":{})", run,
                          json_text(metric), train::name(split), by_epoch ? "epochs" : "steps", from,
                          list_of(part, [](const Bucket& bucket) { return std::to_string(bucket.step); }),
                          list_of(part, number(&Bucket::mean)));
  if (!by_epoch)
    json +=
        fmt::format(R"(,"min":{},"max":{})", list_of(part, number(&Bucket::min)), list_of(part, number(&Bucket::max)));
  if (std::ranges::any_of(series.buckets(), [](const Bucket& bucket) { return bucket.not_finite > 0; }))
    json += fmt::format(R"(,"bad":{})",
                        list_of(part, [](const Bucket& bucket) { return std::to_string(bucket.not_finite); }));
  return json + "}";
}

}  // namespace

std::string runs_json(const std::vector<std::unique_ptr<BoardRun>>& runs) {
  std::string json = "[";
  for (std::size_t i = 0; i < runs.size(); ++i) json += (i > 0 ? "," : "") + run_json(i, *runs[i]);
  return json + "]";
}

std::string CurveCursor::changes(const std::vector<std::unique_ptr<BoardRun>>& runs) {
  std::string json;
  for (const auto id : runs_) {
    if (id >= runs.size()) continue;
    const auto& state = runs[id]->state;
    if (auto& run = run_ids_[id]; run != state.start().run) {  // another run uses the folder now
      run = state.start().run;
      std::erase_if(seen_, [&](const auto& entry) { return std::get<0>(entry.first) == id; });
      json += fmt::format(R"({}{{"run":{},"clear":true}})", json.empty() ? "" : ",", id);
    }
    for (std::size_t i = 0; i < state.metrics().size(); ++i) {
      for (const auto split : kAllSplits) {
        for (const bool by_epoch : {false, true}) {
          const auto& curve = state.curve(i, split);
          const auto& series = by_epoch ? curve.epochs : curve.steps;
          auto& seen = seen_[{id, i, static_cast<int>(split), by_epoch}];
          if (seen.points == series.points() && (seen.generation == series.generation() || series.points() == 0))
            continue;
          const bool is_known = seen.generation == series.generation() && seen.size > 0;
          const std::size_t from = is_known ? seen.size - 1 : 0;  // the last bucket may have grown
          json += (json.empty() ? "" : ",") + part_json(id, state.metrics()[i].name, split, by_epoch, series, from);
          seen = {series.generation(), series.points(), series.buckets().size()};
        }
      }
    }
  }
  return json.empty() ? json : "[" + json + "]";
}

}  // namespace burn::train::dashboard
