#include "store/record.h"

#include <exception>
#include <mutex>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "store/file.h"
#include "store/record_file.h"
#include "store/safetensors.h"

namespace burn {
namespace {

constexpr std::string_view kReservedName = "__metadata__";

void check_name(std::string_view name) {
  if (name != kReservedName) return;
  throw Error(StatusCode::invalid_argument, fmt::format("record: a tensor cannot be called {}", kReservedName));
}

}  // namespace

// Thread-safe.
class Record::PendingTensors {
 public:
  PendingTensors(Tensors tensors, std::vector<Read> reads, std::vector<Source> sources)
      : tensors_(std::move(tensors)), reads_(std::move(reads)), sources_(std::move(sources)) {}

  const Tensors& wait() {
    const std::lock_guard lock(mutex_);
    keep_failure([&] {
      take_reads();
      for (const auto& source : sources_) reads_.emplace_back(source.name, source.read());
      sources_.clear();
      take_reads();
    });
    return tensors_;
  }

  void save(const std::filesystem::path& path, const Metadata& metadata) {
    const std::lock_guard lock(mutex_);
    keep_failure([&] { take_reads(); });
    store::write_record(path, store::entries_of(tensors_, sources_), metadata);
  }

 private:
  // The first exception of `read` is thrown again by each later call.
  template <typename F>
  void keep_failure(const F& read) {
    if (failure_) std::rethrow_exception(failure_);
    try {
      read();
    } catch (...) {
      failure_ = std::current_exception();
      throw;
    }
  }
  void take_reads() {
    for (auto& [name, data] : reads_) {
      auto numbers = store::wait_for(name, std::move(data));
      tensors_.insert_or_assign(std::move(name), std::move(numbers));
    }
    reads_.clear();
  }

  std::mutex mutex_;
  Tensors tensors_;  // constant once reads_ and sources_ are empty
  std::vector<Read> reads_;
  std::vector<Source> sources_;
  std::exception_ptr failure_;
};

const Record::Tensors& Record::tensors() const { return pending_ ? pending_->wait() : tensors_; }

Record::Tensors& Record::mutable_tensors() {
  if (pending_) {
    tensors_ = pending_->wait();
    pending_.reset();
  }
  return tensors_;
}

void Record::insert(std::string name, TensorData data) {
  check_name(name);
  mutable_tensors().insert_or_assign(std::move(name), std::move(data));
}

void Record::insert_reads(std::vector<Read> reads) {
  for (const auto& [name, data] : reads) check_name(name);
  mutable_tensors();
  pending_ = std::make_shared<PendingTensors>(std::exchange(tensors_, {}), std::move(reads), std::vector<Source>{});
}

void Record::insert_sources(std::vector<Source> sources) {
  for (const auto& source : sources) check_name(source.name);
  mutable_tensors();
  for (const auto& source : sources) tensors_.erase(source.name);
  pending_ = std::make_shared<PendingTensors>(std::exchange(tensors_, {}), std::vector<Read>{}, std::move(sources));
}

bool Record::remove(std::string_view name) {
  auto& tensors = mutable_tensors();
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
  if (pending_) return pending_->save(path, metadata_);
  store::write_record(path, store::entries_of(tensors_), metadata_);
}

Record Record::load(const std::filesystem::path& path) { return from_bytes(store::read_file(path), path.native()); }

SharedBytes Record::to_bytes() const {
  const auto entries = store::entries_of(tensors());
  const auto header = store::header_of(entries, metadata_);
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
