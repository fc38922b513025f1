#include "train/optim/average_record.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "base/error.h"
#include "client/tensor/untyped.h"
#include "nn/module/visit.h"

namespace burn::optim::detail {
namespace {

constexpr const char* kKindKey = "average";
constexpr const char* kStepsKey = "steps";
constexpr const char* kUpdatesKey = "updates";

[[noreturn]] void reject_record(const std::string& what) {
  throw Error(StatusCode::invalid_argument, "load_record: " + what);
}

std::int64_t count_in(const Record& record, const char* key) {
  const auto found = record.metadata().find(key);
  std::int64_t count = -1;
  if (found != record.metadata().end()) {
    const auto& text = found->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc{} || end != text.data() + text.size()) count = -1;
  }
  if (count < 0) reject_record(std::string{"the record of an average has no count of "} + key);
  return count;
}

}  // namespace

bool wants_average(const Slot& slot) {
  return ir::is_floating(slot.value.dtype()) && (slot.role == Slot::Role::state || slot.wants_grad());
}

Record record_of_average(const char* kind, const AverageCounts& counts, std::span<const AveragedTensor> tensors,
                         const nn::ModuleWalk& module) {
  Record record;
  record.metadata()[kKindKey] = kind;
  record.metadata()[kStepsKey] = std::to_string(counts.steps);
  record.metadata()[kUpdatesKey] = std::to_string(counts.updates);
  if (counts.updates == 0) return record;
  std::vector<std::pair<std::string, const client::Value*>> means;
  means.reserve(tensors.size());
  std::size_t k = 0, bytes = 0;
  nn::for_each_slot(module, [&](const std::string& path, Slot&) {
    const auto& mean = tensors[k++].mean;
    if (!mean.has_value()) return;
    means.emplace_back(path, &mean);
    bytes += mean.type().num_bytes();
  });
  if (bytes > Record::kStagingBytes) {  // then a file is written without having all of them in memory
    std::vector<Record::Source> sources;
    sources.reserve(means.size());
    for (const auto& [path, mean] : means) sources.push_back(nn::source_of(path, *mean));
    record.insert_sources(std::move(sources));
  } else {
    std::vector<Record::Read> reads;
    reads.reserve(means.size());
    for (const auto& [path, mean] : means) reads.emplace_back(path, client::to_data_async(*mean));
    record.insert_reads(std::move(reads));
  }
  return record;
}

std::pair<AverageCounts, std::vector<AveragedTensor>> average_of_record(const Record& record, const char* kind,
                                                                        const nn::ModuleWalk& module) {
  const auto found = record.metadata().find(kKindKey);
  const std::string of_record = found == record.metadata().end() ? "no average" : found->second;
  if (of_record != kind) reject_record("the record is of " + of_record + ", this average is " + kind);
  const AverageCounts counts{count_in(record, kStepsKey), count_in(record, kUpdatesKey)};
  std::vector<AveragedTensor> tensors;
  std::size_t used = 0;
  nn::for_each_slot_with_paths(module, [&](const std::vector<std::string>& paths, Slot& slot) {
    AveragedTensor entry{slot.id, {}, slot.value.dtype()};
    const auto path = std::ranges::find_if(paths, [&](const std::string& p) { return record.contains(p); });
    if (path != paths.end()) {
      const auto& data = record.get(*path);
      if (data.shape() != slot.value.shape() || !ir::is_floating(data.dtype())) {
        reject_record(*path + " is " + ir::to_string(data.type()) + " in the record of the average, but " +
                      ir::to_string(slot.value.type()) + " in the module");
      }
      const auto wide = data.convert_dtype(ir::compute_dtype(slot.value.dtype()));
      entry.mean = client::upload(client::Place{slot.value.device()}, wide.host_tensor());
      used += 1;
    } else if (counts.updates > 0 && wants_average(slot)) {
      reject_record("the record of the average has no tensor " + paths.front() + ", " +
                    ir::to_string(slot.value.type()));
    }
    tensors.push_back(std::move(entry));
  });
  if (used != record.size()) {
    reject_record(std::to_string(record.size() - used) + " of the " + std::to_string(record.size()) +
                  " tensors of the average have no place in this module");
  }
  if (counts.updates == 0) tensors.clear();
  return {counts, std::move(tensors)};
}

}  // namespace burn::optim::detail
