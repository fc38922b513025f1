#include "net/remote/client_handshake.h"

#include <fmt/format.h>

#include "ir/catalogue.h"
#include "net/remote/upload_queue.h"

namespace burn::net {

void ClientHandshake::restart() {
  greeting_bytes_ = 0;
  held_.clear();
}

proto::EncodedFrame ClientHandshake::hello(const std::optional<proto::Resume>& resume) {
  proto::Hello hello{proto::kProtocolVersion, ir::op_set_fingerprint(), "burn-cpp " BURN_VERSION, token_,
                     device_.number};
  hello.device_name = device_.name;
  hello.lease_seconds = lease_seconds_;
  hello.resume = resume;
  hello_at_ = Clock::now();
  return proto::encode({0, std::move(hello), {}});
}

proto::EncodedFrame ClientHandshake::greet(const std::optional<proto::Resume>& resume) {
  auto frame = hello(resume);
  greeting_bytes_ = frame.size();
  return frame;
}

std::pair<std::size_t, ClientHandshake::Held> ClientHandshake::attach() {
  return {std::exchange(greeting_bytes_, 0), std::exchange(held_, {})};
}

Status ClientHandshake::check(const proto::Welcome& welcome, bool resumes) {
  const auto& info = welcome.info;
  if (info.max_in_flight == 0 || info.bulk_credit == 0) return invalid_argument("limits of zero");
  if (info.bulk_credit > UploadQueue::kMaxCredit) {
    return invalid_argument(
        fmt::format("credit for {} bytes at first; at most {} may be", info.bulk_credit, UploadQueue::kMaxCredit));
  }
  if (resumes && !welcome.resumed) return invalid_argument("a new session where one was to go on");
  if (!resumes && welcome.resumed) return invalid_argument("a session that goes on where a new one was asked for");
  if (welcome.resumed && welcome.resumed->executed > welcome.resumed->received) {
    return invalid_argument(
        fmt::format("{} executed, {} received", welcome.resumed->executed, welcome.resumed->received));
  }
  return {};
}

}  // namespace burn::net
