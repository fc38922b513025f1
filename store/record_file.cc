#include "store/record_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/time_of_day.h"
#include "client/tensor/functions.h"
#include "store/file.h"
#include "store/pieces.h"
#include "store/safetensors.h"

namespace burn::store {
namespace {

// A requested read of a tensor, or of a piece of one.
struct PendingRead {
  std::size_t bytes = 0;
  std::future<TensorData> data;
};

// Reads the tensors of `entries` that are not in memory, in order.
class SourceReads {
 public:
  explicit SourceReads(const std::vector<RecordEntry>& entries) : entries_(entries) {}

  // Returns the next read. Requests the reads after it in advance, up to kStagingBytes.
  PendingRead next() {
    while (entry_ < entries_.size()) {
      const auto& entry = entries_[entry_];
      const auto pieces = pieces_of(entry);
      if (piece_ == pieces) {
        ++entry_;
        piece_ = 0;
        continue;
      }
      const auto bytes = (entry.type.num_bytes() + pieces - 1) / std::max<std::size_t>(pieces, 1);
      if (!pending_.empty() && bytes_ + bytes > Record::kStagingBytes) break;
      const auto* in_pieces = entry.source->read.target<ReadInPieces>();
      pending_.push_back({bytes, in_pieces != nullptr ? in_pieces->piece(piece_) : entry.source->read()});
      bytes_ += bytes;
      ++piece_;
    }
    auto first = std::move(pending_.front());
    pending_.pop_front();
    bytes_ -= first.bytes;
    return first;
  }

  static std::size_t pieces_of(const RecordEntry& entry) {
    if (entry.source == nullptr) return 0;
    const auto* in_pieces = entry.source->read.target<ReadInPieces>();
    return in_pieces != nullptr ? in_pieces->count : 1;
  }

 private:
  const std::vector<RecordEntry>& entries_;
  std::size_t entry_ = 0, piece_ = 0;  // to be requested next
  std::deque<PendingRead> pending_;
  std::size_t bytes_ = 0;  // of pending_
};

// Writes the tensors in their order.
void write(AtomicFileWriter& file, const std::vector<RecordEntry>& entries) {
  SourceReads reads{entries};
  for (const auto& entry : entries) {
    if (entry.source == nullptr) {
      file.write(entry.data->as_bytes());
      continue;
    }
    const auto pieces = SourceReads::pieces_of(entry);
    std::size_t bytes = 0;
    for (std::size_t k = 0; k < pieces; ++k) {
      const auto numbers = wait_for(entry.name, reads.next().data);
      bytes += numbers.type().num_bytes();
      const bool fits = pieces == 1
                            ? numbers.type() == entry.type
                            : numbers.dtype() == entry.type.dtype &&
                                  (k + 1 < pieces ? bytes < entry.type.num_bytes() : bytes == entry.type.num_bytes());
      if (!fits) {
        throw Error(StatusCode::internal, fmt::format("record: tensor {} was to be {}, and {} came as {}",
                                                      quoted(entry.name), ir::to_string(entry.type),
                                                      pieces == 1 ? "it" : fmt::format("piece {} of {}", k + 1, pieces),
                                                      ir::to_string(numbers.type())));
      }
      file.write(numbers.as_bytes());
    }
  }
}

}  // namespace

std::vector<RecordEntry> entries_of(const Record::Tensors& tensors, const std::vector<Record::Source>& sources) {
  std::vector<RecordEntry> entries;
  entries.reserve(tensors.size() + sources.size());
  for (const auto& [name, data] : tensors) entries.push_back({name, data.type(), &data});
  for (const auto& source : sources) entries.push_back({source.name, source.type, nullptr, &source});
  std::ranges::sort(entries, [](const RecordEntry& a, const RecordEntry& b) {
    const auto a_size = ir::size_of(a.type.dtype), b_size = ir::size_of(b.type.dtype);
    return a_size != b_size ? a_size > b_size : a.name < b.name;
  });
  return entries;
}

std::string header_of(const std::vector<RecordEntry>& entries, const Record::Metadata& metadata) {
  SafetensorsHeader layout{.metadata = metadata};
  std::uint64_t place = 0;
  for (const auto& entry : entries) {
    const std::uint64_t end = place + entry.type.num_bytes();
    layout.tensors.push_back({std::string{entry.name}, entry.type, place, end});
    place = end;
  }
  return format_safetensors(layout);
}

void write_record(const std::filesystem::path& path, const std::vector<RecordEntry>& entries,
                  const Record::Metadata& metadata) {
  AtomicFileWriter file{path};
  const auto header = header_of(entries, metadata);
  file.write(std::as_bytes(std::span(header)));
  write(file, entries);
  file.finish();
}

TensorData wait_for(std::string_view name, std::future<TensorData> data) {
  try {
    return client::wait_for(std::move(data));
  } catch (const Error& error) {
    throw Error(error.status().with_context(
        fmt::format("record: tensor {} could not be read at {}", quoted(name), time_of_day())));
  }
}

}  // namespace burn::store
