#include "train/checkpoint/checkpoint.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/parse_number.h"

namespace burn::train {
namespace {

constexpr std::string_view kEpoch = "epoch-", kBatch = "-batch-", kInterrupted = "interrupted";
constexpr std::int64_t kMaxCounted = std::int64_t{1} << 53;

std::optional<std::int64_t> count_of(std::string_view text, std::int64_t least) {
  const auto number = parse_number<std::int64_t>(text);
  return number && *number >= least && *number <= kMaxCounted ? number : std::nullopt;
}

// The position of a checkpoint in a training: after `epochs` complete epochs, and `batches` batches of the next.
struct Position {
  std::int64_t epochs = 0, batches = 0;
  auto operator<=>(const Position&) const = default;
};

// Returns std::nullopt for a name that is neither of an epoch nor of a checkpoint within one.
std::optional<Position> position_of(std::string_view name) {
  if (!name.starts_with(kEpoch)) return std::nullopt;
  name.remove_prefix(kEpoch.size());
  const auto at = name.find(kBatch);
  if (at == std::string_view::npos) {
    const auto epoch = count_of(name, 1);
    return epoch ? std::optional{Position{*epoch, 0}} : std::nullopt;
  }
  const auto epoch = count_of(name.substr(0, at), 1), batches = count_of(name.substr(at + kBatch.size()), 1);
  return epoch && batches ? std::optional{Position{*epoch - 1, *batches}} : std::nullopt;
}

std::string name_of_epoch(std::int64_t epoch) { return fmt::format("{}{}", kEpoch, epoch); }

}  // namespace

std::string name_of(CheckpointKind kind, const TrainingState& state) {
  if (kind == CheckpointKind::interrupted) return std::string{kInterrupted};
  if (kind == CheckpointKind::epoch) return name_of_epoch(state.epoch);
  return fmt::format("{}{}{}{}", kEpoch, state.epoch, kBatch, state.batches);
}

void CheckpointStore::clear() const {
  for (const auto& name : keeper_->names()) keeper_->remove(name);
}

void CheckpointStore::save(const Checkpoint& checkpoint) const {
  save(checkpoint.state.interrupted ? CheckpointKind::interrupted : CheckpointKind::epoch, checkpoint);
}

void CheckpointStore::save(CheckpointKind kind, const Checkpoint& checkpoint) const {
  keeper_->save(name_of(kind, checkpoint.state), checkpoint);
  if (kind != CheckpointKind::interrupted) keeper_->remove(std::string{kInterrupted});  // it is outdated now
}

void CheckpointStore::keep_only(std::span<const std::int64_t> kept) const {
  for (const auto epoch : epochs()) {
    if (std::find(kept.begin(), kept.end(), epoch) == kept.end()) keeper_->remove(name_of_epoch(epoch));
  }
}

void CheckpointStore::drop_later_than(const TrainingState& state) const {
  const auto newest = state.interrupted ? Position{state.epoch - 1, state.batches} : Position{state.epoch, 0};
  for (const auto& name : keeper_->names()) {
    if (const auto position = position_of(name); position && *position > newest) keeper_->remove(name);
  }
}

void CheckpointStore::keep_within_epochs(std::int64_t count) const {
  std::vector<std::pair<Position, std::string>> found;
  for (const auto& name : keeper_->names()) {
    if (const auto position = position_of(name); position && position->batches > 0) found.emplace_back(*position, name);
  }
  std::sort(found.rbegin(), found.rend());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (static_cast<std::int64_t>(i) >= count) keeper_->remove(found[i].second);
  }
}

std::vector<std::int64_t> CheckpointStore::epochs() const {
  std::vector<std::int64_t> found;
  for (const auto& name : keeper_->names()) {
    if (const auto position = position_of(name); position && position->batches == 0) found.push_back(position->epochs);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> CheckpointStore::newest_first() const {
  std::vector<std::pair<Position, std::string>> found;
  std::vector<std::string> names;
  for (const auto& name : keeper_->names()) {
    if (name == kInterrupted) names.push_back(name);  // it is the newest: later checkpoints remove it
    if (const auto position = position_of(name)) found.emplace_back(*position, name);
  }
  std::sort(found.rbegin(), found.rend());
  for (auto& [position, name] : found) names.push_back(std::move(name));
  return names;
}

std::string CheckpointStore::find(std::int64_t epoch) const {
  const auto found = epochs();
  if (std::find(found.begin(), found.end(), epoch) != found.end()) return name_of_epoch(epoch);
  throw Error(StatusCode::not_found,
              "no checkpoint of epoch " + std::to_string(epoch) + " in " + keeper_->place() +
                  (found.empty() ? "" : fmt::format("; there are those of the epochs {}", fmt::join(found, ", "))));
}

Checkpoint CheckpointStore::load(std::optional<std::int64_t> epoch,
                                 const std::function<void(const std::string&)>& warn) const {
  if (epoch) return read_epoch(*epoch);
  const auto names = newest_first();
  if (names.empty()) throw Error(StatusCode::not_found, "no checkpoint in " + keeper_->place());
  std::string why;
  for (const auto& name : names) {
    try {
      const auto position = position_of(name);
      return position && position->batches == 0 ? read_epoch(position->epochs) : keeper_->load(name);
    } catch (const Error& error) {
      // Not enough memory, or written by a newer version: it may be undamaged.
      if (error.code() == StatusCode::resource_exhausted || error.code() == StatusCode::failed_precondition) throw;
      const auto sentence = "the checkpoint " + name + " cannot be used: " + std::string{error.what()};
      if (warn) warn(sentence);
      why += (why.empty() ? "" : "; ") + sentence;
    }
  }
  throw Error(StatusCode::data_loss, "no checkpoint in " + keeper_->place() + " is whole: " + why);
}

Checkpoint CheckpointStore::read_epoch(std::int64_t epoch) const {
  const auto name = find(epoch);
  auto checkpoint = keeper_->load(name);
  if (checkpoint.state.epoch == epoch && !checkpoint.state.interrupted) return checkpoint;
  throw Error(StatusCode::data_loss,
              fmt::format("{}/{}/state.json: it is of epoch {}{}, in the folder of epoch {}", keeper_->place(), name,
                          checkpoint.state.epoch, checkpoint.state.interrupted ? ", interrupted" : "", epoch));
}

Record CheckpointStore::load_record(std::int64_t epoch, const std::string& record) const {
  return keeper_->load_record(find(epoch), record);
}

}  // namespace burn::train
