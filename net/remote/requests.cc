#include "net/remote/requests.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/host_block.h"
#include "net/remote/printable_status.h"

namespace burn::net {
namespace {

// The same bytes, copied if they are not aligned for elements of `size` bytes: in a frame they begin wherever its
// header ends.
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
  was_oldest_ = found != requests_.end() && found == oldest();
  return found == requests_.end() ? nullptr : &found->second;
}

proto::Body Requests::add_unordered(const std::function<proto::Body(std::uint64_t)>& ask, std::size_t answer,
                                    UnorderedCallback done) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t id = ++last_id_;
  auto question = ask(id);
  requests_.emplace(id, Request{.callback = Unordered{question, answer, std::move(done)}});
  return question;
}

Requests::ById::const_iterator Requests::oldest() const {
  const auto ordered = std::ranges::find_if(requests_, [](const auto& entry) { return !entry.second.is_unordered(); });
  return ordered == requests_.end() ? requests_.begin() : ordered;
}

Requests::Request Requests::take(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  return std::move(requests_.extract(id).mapped());
}

Completion Requests::fail(Request request, const Status& why) {
  return std::visit(
      [&](auto& callback) -> Completion { return [callback = std::move(callback), why] { callback(why); }; },
      request.callback);
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
  if (request->is_unordered())
    return invalid_argument(fmt::format("request {} is asked beside the order; it is answered so", done.request));
  if (std::holds_alternative<ReadCallback>(request->callback) && done.status.ok()) {
    return invalid_argument(fmt::format("request {} is a read; it is answered with data", done.request));
  }
  ++answers_;
  return fail(take(done.request), printable(done.status));
}

Result<Completion> Requests::on_report(std::uint64_t id, const Status& status, proto::Body report) {
  const Request* request = find(id);
  const auto* asked = request ? std::get_if<Unordered>(&request->callback) : nullptr;
  if (!request && take_late_answer(id, report.index())) return Completion{};
  if (!asked || asked->answer != report.index())
    return invalid_argument(fmt::format("a {} for request {}, which awaits none", proto::name(report), id));
  auto done = take(id);
  if (const auto& unordered = std::get<Unordered>(done.callback); unordered.asked_again > 0) {
    const std::lock_guard lock(mutex_);
    late_answers_.emplace(id, std::pair{unordered.answer, unordered.asked_again});
  }
  if (!status.ok()) return fail(std::move(done), printable(status));
  return Completion{[callback = std::get<Unordered>(std::move(done.callback)).done,
                     report = std::move(report)]() mutable { callback(std::move(report)); }};
}

std::size_t Requests::size() const {
  const std::lock_guard lock(mutex_);
  return requests_.size();
}

std::optional<std::uint64_t> Requests::oldest_seq() const {
  const std::lock_guard lock(mutex_);
  const auto found = oldest();
  if (found == requests_.end() || found->second.is_unordered()) return std::nullopt;
  return found->second.seq;
}

std::vector<proto::Body> Requests::unordered_to_resend() {
  const std::lock_guard lock(mutex_);
  std::vector<proto::Body> questions;
  for (auto& [id, request] : requests_) {
    auto* const unordered = std::get_if<Unordered>(&request.callback);
    if (!unordered) continue;
    ++unordered->asked_again;
    questions.push_back(unordered->question);
  }
  return questions;
}

bool Requests::take_late_answer(std::uint64_t id, std::size_t answer) {
  const std::lock_guard lock(mutex_);
  const auto found = late_answers_.find(id);
  if (found == late_answers_.end() || found->second.first != answer) return false;
  if (--found->second.second == 0) late_answers_.erase(found);
  return true;
}

std::vector<Completion> Requests::fail_unordered(const std::function<Status(const proto::Body& question)>& check) {
  std::vector<Completion> completions;
  const std::lock_guard lock(mutex_);
  for (auto entry = requests_.begin(); entry != requests_.end();) {
    const auto* asked = std::get_if<Unordered>(&entry->second.callback);
    const auto why = asked ? check(asked->question) : Status{};
    if (!why.ok()) completions.push_back(fail(std::move(entry->second), why));
    entry = why.ok() ? std::next(entry) : requests_.erase(entry);
  }
  return completions;
}

std::vector<Completion> Requests::fail_all(const Status& why) {
  ById all;
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
