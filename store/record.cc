#include "store/record.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <span>

#include <fmt/format.h>

#include "base/error.h"
#include "base/time_of_day.h"
#include "client/tensor/functions.h"
#include "store/file.h"
#include "store/safetensors.h"

namespace burn {
namespace {

using Part = std::span<const std::byte>;

constexpr std::string_view kReservedName = "__metadata__";

// The largest elements first, so that every tensor is aligned for its type in a file whose data start aligned.
std::vector<const Record::Tensors::value_type*> file_order(const Record& record) {
  std::vector<const Record::Tensors::value_type*> order;
  for (const auto& item : record) order.push_back(&item);
  std::ranges::sort(order, [](const auto* a, const auto* b) {
    const auto a_size = ir::size_of(a->second.dtype()), b_size = ir::size_of(b->second.dtype());
    return a_size != b_size ? a_size > b_size : a->first < b->first;
  });
  return order;
}

// The file in parts: `header`, which this fills, and then the tensors where they lie.
std::vector<Part> file_parts(const Record& record, std::string& header) {
  store::SafetensorsHeader layout{.metadata = record.metadata()};
  std::vector<Part> parts(1);
  std::uint64_t place = 0;
  for (const auto* item : file_order(record)) {
    const auto& [name, data] = *item;
    const std::uint64_t end = place + data.as_bytes().size();
    layout.tensors.push_back({name, data.type(), place, end});
    parts.push_back(data.as_bytes());
    place = end;
  }
  header = store::format_safetensors(layout);
  parts[0] = std::as_bytes(std::span(header));
  return parts;
}

void check_name(std::string_view name) {
  if (name != kReservedName) return;
  throw Error(StatusCode::invalid_argument, fmt::format("record: a tensor cannot be called {}", kReservedName));
}

}  // namespace

// Thread-safe.
class Record::Awaited {
 public:
  Awaited(Tensors tensors, std::vector<Read> reads) : tensors_(std::move(tensors)), reads_(std::move(reads)) {}

  const Tensors& wait() {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
    for (auto& [name, data] : reads_) {
      try {
        auto numbers = client::wait_for(std::move(data));
        tensors_.insert_or_assign(std::move(name), std::move(numbers));
      } catch (const Error& error) {
        fail(std::make_exception_ptr(Error(error.status().with_context(
            fmt::format("record: tensor {} could not be read at {}", store::quoted(name), time_of_day())))));
      } catch (...) {
        fail(std::current_exception());
      }
    }
    reads_.clear();
    return tensors_;
  }

 private:
  [[noreturn]] void fail(std::exception_ptr why) {
    failure_ = std::move(why);
    std::rethrow_exception(failure_);
  }

  std::mutex mutex_;
  Tensors tensors_;  // constant when nothing is awaited any more
  std::vector<Read> reads_;
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
  awaited_ = std::make_shared<Awaited>(std::exchange(tensors_, {}), std::move(reads));
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
  std::string header;
  store::write_file(path, file_parts(*this, header));
}

Record Record::load(const std::filesystem::path& path) { return from_bytes(store::read_file(path), path.native()); }

SharedBytes Record::to_bytes() const {
  std::string header;
  const auto parts = file_parts(*this, header);
  std::size_t size = 0;
  for (const auto part : parts) size += part.size();
  std::vector<std::byte> bytes;
  bytes.reserve(size);
  for (const auto part : parts) bytes.insert(bytes.end(), part.begin(), part.end());
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
