#include "net/remote/requests.h"

#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/host_block.h"
#include "net/remote/printable_status.h"

namespace burn::net {
namespace {

// The same bytes where elements of `size` bytes may be read in place: in a frame they stand wherever its header ends.
SharedBytes aligned(const SharedBytes& bytes, std::size_t size) {
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % size == 0) return bytes;
  std::vector<std::byte> copy(bytes.span().begin(), bytes.span().end());
  return SharedBytes::own(std::move(copy));
}

Completion complete(Requests::ReadCallback callback, Result<proto::HostTensor> tensor) {
  return [callback = std::move(callback), tensor = std::move(tensor)]() mutable { callback(std::move(tensor)); };
}

}  // namespace

std::uint64_t Requests::add_any(Request request) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t id = ++last_id_;
  requests_.emplace(id, std::move(request));
  return id;
}

Requests::Request* Requests::find(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = requests_.find(id);
  was_oldest_ = found != requests_.end() && found == requests_.begin();
  return found == requests_.end() ? nullptr : &found->second;
}

Requests::Request Requests::take(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  return std::move(requests_.extract(id).mapped());
}

Completion Requests::fail(Request request, const Status& why) {
  if (auto* read = std::get_if<ReadCallback>(&request.callback)) return complete(std::move(*read), why);
  return [callback = std::get<SyncCallback>(std::move(request.callback)), why] { callback(why); };
}

Result<Completion> Requests::on_data(const proto::Data& data, const SharedBytes& payload, std::uint64_t max_bytes) {
  Request* request = find(data.request);
  if (!request || !std::holds_alternative<ReadCallback>(request->callback) || request->download.size != 0) {
    return invalid_argument(fmt::format("data for request {}, which awaits none", data.request));
  }
  const std::uint64_t size = data.type.num_bytes();
  if (size > max_bytes) return invalid_argument(fmt::format("a tensor of {} bytes; it may have {}", size, max_bytes));
  if (payload.size() == size) {
    ++answers_;
    auto read = std::get<ReadCallback>(take(data.request).callback);
    return complete(std::move(read), proto::HostTensor{data.type, aligned(payload, size_of(data.type.dtype))});
  }
  if (!payload.empty()) {
    return invalid_argument(fmt::format("{} bytes for a tensor of {}", payload.size(), size));
  }
  ++answers_;
  request->download = {data.type, size, 0, host_block(size)};
  return Completion{};
}

Result<Completion> Requests::on_chunk(const proto::Chunk& chunk, std::span<const std::byte> bytes) {
  Request* request = find(chunk.key);
  if (!request || request->download.size == 0) {
    return invalid_argument(fmt::format("a chunk for request {}, which awaits none", chunk.key));
  }
  Download& download = request->download;
  if (chunk.offset != download.received || bytes.size() > download.size - download.received) {
    return invalid_argument(fmt::format("{} bytes from {} for request {}; due is {} of {}", bytes.size(), chunk.offset,
                                        chunk.key, download.received, download.size));
  }
  std::byte* const target = download.bytes ? download.bytes.get() + download.received : nullptr;
  if (target && bytes.data() != target) std::memcpy(target, bytes.data(), bytes.size());
  download.received += bytes.size();
  offset_ = download.received;
  if (download.received < download.size) return Completion{};
  offset_ = 0;
  ++downloads_;

  Request done = take(chunk.key);
  Download whole = std::move(done.download);
  if (!whole.bytes) {
    return fail(std::move(done), resource_exhausted(fmt::format("no memory for a tensor of {} bytes", whole.size)));
  }
  const std::span<const std::byte> all{whole.bytes.get(), whole.size};
  return complete(std::get<ReadCallback>(std::move(done.callback)),
                  proto::HostTensor{whole.type, SharedBytes{std::move(whole.bytes), all}});
}

std::shared_ptr<std::byte> Requests::destination(const proto::Chunk& chunk, std::size_t size) {
  const Request* request = find(chunk.key);
  if (!request || !request->download.bytes) return nullptr;
  const Download& download = request->download;
  if (chunk.offset != download.received || size > download.size - download.received) return nullptr;
  return {download.bytes, download.bytes.get() + download.received};
}

Result<Completion> Requests::on_done(const proto::Done& done) {
  const Request* request = find(done.request);
  if (!request) return invalid_argument(fmt::format("an answer to request {}, which is not open", done.request));
  if (std::holds_alternative<ReadCallback>(request->callback) && done.status.ok()) {
    return invalid_argument(fmt::format("request {} is a read; it is answered with data", done.request));
  }
  ++answers_;
  return fail(take(done.request), printable(done.status));
}

std::size_t Requests::size() const {
  const std::lock_guard lock(mutex_);
  return requests_.size();
}

std::optional<std::uint64_t> Requests::oldest_seq() const {
  const std::lock_guard lock(mutex_);
  if (requests_.empty()) return std::nullopt;
  return requests_.begin()->second.seq;
}

std::vector<Completion> Requests::fail_all(const Status& why) {
  std::map<std::uint64_t, Request> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(requests_);
  }
  std::vector<Completion> completions;
  completions.reserve(all.size());
  for (auto& [id, request] : all) completions.push_back(fail(std::move(request), why));
  return completions;
}

}  // namespace burn::net
