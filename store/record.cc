#include "store/record.h"

#include <algorithm>
#include <deque>
#include <exception>
#include <mutex>
#include <span>

#include <fmt/format.h>

#include "base/error.h"
#include "base/time_of_day.h"
#include "client/tensor/functions.h"
#include "store/file.h"
#include "store/pieces.h"
#include "store/safetensors.h"

namespace burn {
namespace {

constexpr std::string_view kReservedName = "__metadata__";

// A tensor that is here, or one that is to be read.
struct Entry {
  std::string_view name;
  ir::TensorType type;
  const TensorData* data = nullptr;
  const Record::Source* source = nullptr;
};

// The order in the file: the largest elements first, so that every tensor is aligned for its type where the data start
// aligned.
void sort(std::vector<Entry>& entries) {
  std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
    const auto a_size = ir::size_of(a.type.dtype), b_size = ir::size_of(b.type.dtype);
    return a_size != b_size ? a_size > b_size : a.name < b.name;
  });
}

std::vector<Entry> entries_of(const Record::Tensors& tensors) {
  std::vector<Entry> entries;
  for (const auto& [name, data] : tensors) entries.push_back({name, data.type(), &data});
  sort(entries);
  return entries;
}

// What stands before the tensors.
std::string header_of(const std::vector<Entry>& entries, const Record::Metadata& metadata) {
  store::SafetensorsHeader layout{.metadata = metadata};
  std::uint64_t place = 0;
  for (const auto& entry : entries) {
    const std::uint64_t end = place + entry.type.num_bytes();
    layout.tensors.push_back({std::string{entry.name}, entry.type, place, end});
    place = end;
  }
  return store::format_safetensors(layout);
}

void check_name(std::string_view name) {
  if (name != kReservedName) return;
  throw Error(StatusCode::invalid_argument, fmt::format("record: a tensor cannot be called {}", kReservedName));
}

TensorData wait_for(std::string_view name, std::future<TensorData> data) {
  try {
    return client::wait_for(std::move(data));
  } catch (const Error& error) {
    throw Error(error.status().with_context(
        fmt::format("record: tensor {} could not be read at {}", store::quoted(name), time_of_day())));
  }
}

// What is asked for at a time: a tensor, or a piece of it.
struct Asked {
  std::size_t bytes = 0;
  std::future<TensorData> data;
};

// Asks for the tensors of `entries` that are elsewhere, in their order.
class Asking {
 public:
  explicit Asking(const std::vector<Entry>& entries) : entries_(entries) {}

  // The next one; those behind it are asked for ahead, as far as kStagingBytes go.
  Asked next() {
    while (entry_ < entries_.size()) {
      const auto& entry = entries_[entry_];
      const auto pieces = pieces_of(entry);
      if (piece_ == pieces) {
        ++entry_;
        piece_ = 0;
        continue;
      }
      const auto bytes = (entry.type.num_bytes() + pieces - 1) / std::max<std::size_t>(pieces, 1);
      if (!asked_.empty() && bytes_ + bytes > Record::kStagingBytes) break;
      const auto* in_pieces = entry.source->read.target<store::ReadInPieces>();
      asked_.push_back({bytes, in_pieces != nullptr ? in_pieces->piece(piece_) : entry.source->read()});
      bytes_ += bytes;
      ++piece_;
    }
    auto first = std::move(asked_.front());
    asked_.pop_front();
    bytes_ -= first.bytes;
    return first;
  }

  static std::size_t pieces_of(const Entry& entry) {
    if (entry.source == nullptr) return 0;
    const auto* in_pieces = entry.source->read.target<store::ReadInPieces>();
    return in_pieces != nullptr ? in_pieces->count : 1;
  }

 private:
  const std::vector<Entry>& entries_;
  std::size_t entry_ = 0, piece_ = 0;  // that is to be asked for next
  std::deque<Asked> asked_;
  std::size_t bytes_ = 0;  // of these
};

// Writes the tensors in their order.
void write(store::NewFile& file, const std::vector<Entry>& entries) {
  Asking asking{entries};
  for (const auto& entry : entries) {
    if (entry.source == nullptr) {
      file.write(entry.data->as_bytes());
      continue;
    }
    const auto pieces = Asking::pieces_of(entry);
    std::size_t bytes = 0;
    for (std::size_t k = 0; k < pieces; ++k) {
      const auto numbers = wait_for(entry.name, asking.next().data);
      bytes += numbers.type().num_bytes();
      const bool fits = pieces == 1
                            ? numbers.type() == entry.type
                            : numbers.dtype() == entry.type.dtype &&
                                  (k + 1 < pieces ? bytes < entry.type.num_bytes() : bytes == entry.type.num_bytes());
      if (!fits) {
        throw Error(StatusCode::internal, fmt::format("record: tensor {} was to be {}, and {} came as {}",
                                                      store::quoted(entry.name), ir::to_string(entry.type),
                                                      pieces == 1 ? "it" : fmt::format("piece {} of {}", k + 1, pieces),
                                                      ir::to_string(numbers.type())));
      }
      file.write(numbers.as_bytes());
    }
  }
}

}  // namespace

// Thread-safe.
class Record::Awaited {
 public:
  Awaited(Tensors tensors, std::vector<Read> reads, std::vector<Source> sources)
      : tensors_(std::move(tensors)), reads_(std::move(reads)), sources_(std::move(sources)) {}

  const Tensors& wait() {
    const std::lock_guard lock(mutex_);
    take_reads();
    for (const auto& source : sources_) reads_.emplace_back(source.name, source.read());
    sources_.clear();
    take_reads();
    return tensors_;
  }

  void save(const std::filesystem::path& path, const Metadata& metadata) {
    const std::lock_guard lock(mutex_);
    take_reads();
    auto entries = entries_of(tensors_);
    for (const auto& source : sources_) entries.push_back({source.name, source.type, nullptr, &source});
    sort(entries);
    store::NewFile file{path};
    const auto header = header_of(entries, metadata);
    file.write(std::as_bytes(std::span(header)));
    write(file, entries);
    file.finish();
  }

 private:
  void take_reads() {
    if (failure_) std::rethrow_exception(failure_);
    try {
      for (auto& [name, data] : reads_) {
        auto numbers = wait_for(name, std::move(data));
        tensors_.insert_or_assign(std::move(name), std::move(numbers));
      }
    } catch (...) {
      failure_ = std::current_exception();
      throw;
    }
    reads_.clear();
  }

  std::mutex mutex_;
  Tensors tensors_;  // constant when nothing is awaited any more
  std::vector<Read> reads_;
  std::vector<Source> sources_;
  std::exception_ptr failure_;
};

const Record::Tensors& Record::tensors() const { return awaited_ ? awaited_->wait() : tensors_; }

Record::Tensors& Record::own_tensors() {
  if (awaited_) {
    tensors_ = awaited_->wait();
    awaited_.reset();
  }
  return tensors_;
}

void Record::insert(std::string name, TensorData data) {
  check_name(name);
  own_tensors().insert_or_assign(std::move(name), std::move(data));
}

void Record::insert_reads(std::vector<Read> reads) {
  for (const auto& [name, data] : reads) check_name(name);
  own_tensors();
  awaited_ = std::make_shared<Awaited>(std::exchange(tensors_, {}), std::move(reads), std::vector<Source>{});
}

void Record::insert_sources(std::vector<Source> sources) {
  for (const auto& source : sources) check_name(source.name);
  own_tensors();
  for (const auto& source : sources) tensors_.erase(source.name);
  awaited_ = std::make_shared<Awaited>(std::exchange(tensors_, {}), std::vector<Read>{}, std::move(sources));
}

bool Record::remove(std::string_view name) {
  auto& tensors = own_tensors();
  const auto found = tensors.find(name);
  if (found == tensors.end()) return false;
  tensors.erase(found);
  return true;
}

const TensorData* Record::find(std::string_view name) const {
  const auto& all = tensors();
  const auto found = all.find(name);
  return found == all.end() ? nullptr : &found->second;
}

const TensorData& Record::get(std::string_view name) const {
  if (const auto* data = find(name)) return *data;
  constexpr std::size_t kShown = 5;
  std::string others;
  for (auto it = begin(); it != end() && static_cast<std::size_t>(std::distance(begin(), it)) < kShown; ++it) {
    others += (others.empty() ? ": " : ", ") + it->first;
  }
  throw Error(StatusCode::not_found, fmt::format("record: no tensor {} among {}{}{}", store::quoted(name), size(),
                                                 others, size() > kShown ? ", ..." : ""));
}

std::vector<std::string> Record::names() const {
  std::vector<std::string> names;
  for (const auto& [name, data] : tensors()) names.push_back(name);
  return names;
}

void Record::save(const std::filesystem::path& path) const {
  if (awaited_) return awaited_->save(path, metadata_);
  const auto entries = entries_of(tensors_);
  store::NewFile file{path};
  const auto header = header_of(entries, metadata_);
  file.write(std::as_bytes(std::span(header)));
  write(file, entries);
  file.finish();
}

Record Record::load(const std::filesystem::path& path) { return from_bytes(store::read_file(path), path.native()); }

SharedBytes Record::to_bytes() const {
  const auto entries = entries_of(tensors());
  const auto header = header_of(entries, metadata_);
  std::size_t size = header.size();
  for (const auto& entry : entries) size += entry.type.num_bytes();
  std::vector<std::byte> bytes;
  bytes.reserve(size);
  const auto append = [&](std::span<const std::byte> part) { bytes.insert(bytes.end(), part.begin(), part.end()); };
  append(std::as_bytes(std::span(header)));
  for (const auto& entry : entries) append(entry.data->as_bytes());
  return SharedBytes::own(std::move(bytes));
}

Record Record::from_bytes(const SharedBytes& bytes, std::string_view source) {
  auto header = store::parse_safetensors(bytes.span());
  if (!header.ok()) throw Error(header.status().with_context(source));
  Record record;
  record.metadata_ = std::move(header->metadata);
  for (auto& tensor : header->tensors) {
    const auto place = static_cast<std::size_t>(header->data_start + tensor.begin);
    try {
      record.insert(tensor.name, TensorData::from_bytes(bytes.slice(place, tensor.type.num_bytes()), tensor.type.shape,
                                                        tensor.type.dtype));
    } catch (const Error& error) {
      throw Error(error.status().with_context(fmt::format("{}: tensor {}", source, store::quoted(tensor.name))));
    }
  }
  return record;
}

}  // namespace burn
