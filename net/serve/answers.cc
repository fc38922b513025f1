#include "net/serve/answers.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "proto/channel_batch.h"

namespace burn::net {

// --- connections -----------------------------------------------------------------------------------------------------

void Answers::connect(std::shared_ptr<proto::Channel> channel, const proto::Body& welcome) {
  const std::lock_guard lock{mutex_};
  channel_ = std::move(channel);
  credit_ = proto::kInitialCredit;
  put(welcome);
  for (const auto& answer : unconfirmed_) put(answer.body, answer.payload);  // hold() limits their number
  send_what_fits();
}

std::shared_ptr<proto::Channel> Answers::disconnect() {
  const std::lock_guard lock{mutex_};
  return std::exchange(channel_, nullptr);
}

Status Answers::resume(const proto::Resume& seen) {
  const std::lock_guard lock{mutex_};
  BURN_RETURN_IF_ERROR(confirm_locked(seen.answers));
  BURN_RETURN_IF_ERROR(confirm_downloads(seen.downloads));
  for (auto& download : downloads_) download.sent = 0;
  sent_downloads_ = 0;
  if (seen.offset == 0) return {};
  if (downloads_.empty() || seen.offset > downloads_.front().bytes.size()) {
    return invalid_argument(fmt::format("{} bytes of a download that has less", seen.offset));
  }
  downloads_.front().sent = seen.offset;
  return {};
}

// --- sending ---------------------------------------------------------------------------------------------------------

Status Answers::answer(proto::Body body, SharedBytes bytes) {
  const bool is_download = bytes.size() > proto::kInlineBytes;
  const std::lock_guard lock{mutex_};
  ++answer_count_;
  const SharedBytes inside = is_download ? SharedBytes{} : bytes;
  if (holds_) BURN_RETURN_IF_ERROR(hold(body, inside));
  Status sent = send(body, inside);
  if (!is_download) return sent;
  if (!holds_ && !channel_) return sent;  // there will be no channel to send it on
  downloads_.push_back({std::get<proto::Data>(body).request, answer_count_, std::move(bytes)});
  send_what_fits();
  return sent;
}

Status Answers::tell(const proto::Body& body) {
  const std::lock_guard lock{mutex_};
  return send(body);
}

Status Answers::send(const proto::Body& body, SharedBytes payload) {
  if (!channel_) return {};
  if (channel_->queued_bytes() > kMaxBacklogBytes) return resource_exhausted("the client does not read its answers");
  put(body, std::move(payload));
  return {};
}

void Answers::put(const proto::Body& body, SharedBytes payload) {
  proto::ChannelBatch::join(channel_);  // the batch of the frames being received, on any connection
  channel_->send(proto::encode({0, body, std::move(payload)}), proto::Lane::control);
}

void Answers::send_what_fits() {
  while (channel_ && sent_downloads_ < downloads_.size()) {
    auto& [key, number, bytes, sent] = downloads_[sent_downloads_];
    const auto size = std::min(proto::kChunkBytes, bytes.size() - sent);
    if (size > credit_) return;
    if (size > 0)
      channel_->send(proto::encode({0, proto::Chunk{key, sent}, bytes.slice(sent, size)}), proto::Lane::bulk);
    credit_ -= size;
    sent += size;
    if (sent < bytes.size()) continue;
    if (holds_) {
      ++sent_downloads_;
    } else {
      downloads_.pop_front();
      ++done_downloads_;
    }
  }
}

// --- confirmation ----------------------------------------------------------------------------------------------------

Status Answers::hold(const proto::Body& body, const SharedBytes& payload) {
  if (unconfirmed_.size() >= kMaxUnconfirmed || unconfirmed_bytes_ + payload.size() > kMaxBacklogBytes) {
    return resource_exhausted(fmt::format("the client does not confirm its answers: {} of {} bytes wait",
                                          unconfirmed_.size(), unconfirmed_bytes_));
  }
  unconfirmed_.push_back({body, payload});
  unconfirmed_bytes_ += payload.size();
  return {};
}

Status Answers::on_credit(const proto::Credit& credit) {
  const std::lock_guard lock{mutex_};
  BURN_RETURN_IF_ERROR(confirm_locked(credit.answers));
  BURN_RETURN_IF_ERROR(confirm_downloads(credit.downloads));
  if (credit.bytes > kMaxCredit - credit_) {
    return invalid_argument(fmt::format("credit for {} bytes; at most {} may be", credit.bytes, kMaxCredit - credit_));
  }
  credit_ += credit.bytes;
  send_what_fits();
  return {};
}

Status Answers::confirm(std::uint64_t answers) {
  if (!holds_ || answers == 0) return {};
  const std::lock_guard lock{mutex_};
  return confirm_locked(answers);
}

// A number below the last one is ignored: confirmations come from several threads of the client, in any order.
Status Answers::confirm_locked(std::uint64_t answers) {
  if (!holds_) return {};
  if (answers > answer_count_)
    return invalid_argument(fmt::format("{} answers have come; there were {}", answers, answer_count_));
  while (!unconfirmed_.empty() && answer_count_ - unconfirmed_.size() < answers) {
    unconfirmed_bytes_ -= unconfirmed_.front().payload.size();
    unconfirmed_.pop_front();
  }
  return {};
}

Status Answers::confirm_downloads(std::uint64_t downloads) {
  if (!holds_) return {};
  if (downloads > done_downloads_ + sent_downloads_) {
    return invalid_argument(
        fmt::format("{} downloads have come; {} were sent", downloads, done_downloads_ + sent_downloads_));
  }
  for (; done_downloads_ < downloads; ++done_downloads_, --sent_downloads_) downloads_.pop_front();
  return {};
}

void Answers::clear() {
  std::deque<Answer> answers;  // freed outside the lock
  std::deque<Download> downloads;
  const std::lock_guard lock{mutex_};
  answers.swap(unconfirmed_);
  downloads.swap(downloads_);
  sent_downloads_ = unconfirmed_bytes_ = 0;
}

std::size_t Answers::downloads() const {
  const std::lock_guard lock{mutex_};
  return downloads_.size();
}

bool Answers::is_sent() const {
  const std::lock_guard lock{mutex_};
  return sent_downloads_ == downloads_.size() && (!channel_ || channel_->queued_bytes() == 0);
}

}  // namespace burn::net
