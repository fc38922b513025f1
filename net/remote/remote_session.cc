#include "net/remote/remote_session.h"

#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/settings.h"
#include "net/dial/connect.h"
#include "net/remote/conversation.h"

namespace burn::net {
namespace {

using Clock = std::chrono::steady_clock;

// A connection may be lost before there is a session to come back to.
constexpr auto kFirstPause = std::chrono::milliseconds{10}, kLastPause = std::chrono::milliseconds{80};
bool may_try_again(const std::string& url, const Result<std::unique_ptr<RemoteSession>>& session,
                   const ConnectOptions& options) {
  return !session.ok() && session.status().code() == StatusCode::unavailable && options.lease_seconds > 0 &&
         !is_gone_for_good(url, session.status());
}

class ConversationSession final : public RemoteSession {
 public:
  ConversationSession(std::shared_ptr<Conversation> conversation, bool is_shared_memory)
      : conversation_(std::move(conversation)), is_shared_memory_(is_shared_memory) {}
  ~ConversationSession() override { conversation_->close(); }

  const proto::SessionInfo& info() const override { return conversation_->info(); }
  Status health() const override { return conversation_->health(); }

  Status define(proto::ProgramId id, std::shared_ptr<const ir::Program> program,
                std::vector<proto::ProgramId> forget) override {
    return conversation_->send(proto::DefineProgram{id, std::move(program), std::move(forget)});
  }
  Status run(proto::Run run) override { return conversation_->send(proto::RunProgram{std::move(run)}); }
  Status write(proto::TensorId id, proto::HostTensor tensor) override;
  Status release(std::vector<proto::TensorId> ids) override {
    return conversation_->send(proto::Release{std::move(ids)});
  }
  void read(proto::TensorId id, ReadCallback done) override { conversation_->ask_read(id, std::move(done)); }
  void sync(SyncCallback done) override { conversation_->ask_sync(std::move(done)); }
  void begin_burst() override { conversation_->begin_burst(); }
  void end_burst() override { conversation_->end_burst(); }
  void close() override { conversation_->close(); }

  WireStats wire_stats() const override { return conversation_->stats(); }
  bool is_shared_memory() const override { return is_shared_memory_; }
  std::chrono::nanoseconds round_trip() const override { return conversation_->round_trip(); }

 private:
  const std::shared_ptr<Conversation> conversation_;
  const bool is_shared_memory_;
};

Status ConversationSession::write(proto::TensorId id, proto::HostTensor tensor) {
  auto& [type, bytes] = tensor;
  if (bytes.size() != type.num_bytes()) {
    return invalid_argument(
        fmt::format("{} bytes for {}, which has {}", bytes.size(), ir::to_string(type), type.num_bytes()));
  }
  if (bytes.size() > info().max_tensor_bytes) {
    return resource_exhausted(fmt::format("{} has {} bytes; the server takes tensors of {}", ir::to_string(type),
                                          bytes.size(), info().max_tensor_bytes));
  }
  if (bytes.size() <= proto::kInlineBytes) return conversation_->send(proto::Write{id, type}, std::move(bytes));
  return conversation_->send(proto::Write{id, type}, {}, std::move(bytes));
}

}  // namespace

Result<std::unique_ptr<RemoteSession>> connect_over(const ChannelFactory& factory, const std::string& url,
                                                    const ConnectOptions& options) {
  const auto timeout = std::chrono::seconds{options.timeout_seconds};
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  const auto endpoint = parse_url(url);  // a factory may know URLs of its own, which name no device
  const auto conversation = std::make_shared<Conversation>(url, endpoint.ok() ? endpoint->device : 0, factory, options);
  BURN_TRY(auto channel, factory(conversation, timeout));
  auto session =
      std::make_unique<ConversationSession>(conversation, channel->is_shared_memory());  // closes without a welcome
  BURN_RETURN_IF_ERROR(conversation->start(std::move(channel), deadline));
  return std::unique_ptr<RemoteSession>(std::move(session));
}

Result<std::unique_ptr<RemoteSession>> connect(const std::string& url, const ConnectOptions& options) {
  const auto factory = [url](std::shared_ptr<proto::ChannelHandler> handler, std::chrono::milliseconds timeout) {
    return connect_channel(url, std::move(handler), timeout);
  };
  ConnectOptions with_token = options;
  if (options.token.empty()) with_token.token = setting(Setting::token);
  const auto deadline = Clock::now() + std::chrono::seconds{options.timeout_seconds};
  auto session = connect_over(factory, url, with_token);
  for (auto pause = kFirstPause; pause <= kLastPause && may_try_again(url, session, options); pause *= 2) {
    if (Clock::now() + pause >= deadline) break;
    std::this_thread::sleep_for(pause);
    session = connect_over(factory, url, with_token);
  }
  return session;
}

}  // namespace burn::net
