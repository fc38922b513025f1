#include "net/remote/remote_session.h"

#include <utility>

#include <fmt/format.h>

#include "base/settings.h"
#include "net/dial/connect.h"
#include "net/remote/conversation.h"

namespace burn::net {
namespace {

class ConversationSession final : public RemoteSession {
 public:
  explicit ConversationSession(std::shared_ptr<Conversation> conversation) : conversation_(std::move(conversation)) {}
  ~ConversationSession() override { conversation_->close(); }

  const proto::SessionInfo& info() const override { return conversation_->info(); }
  const proto::SessionInfo* known_info() const override { return conversation_->known_info(); }
  proto::SessionTraits traits() const override {
    proto::SessionTraits traits{.is_remote = true, .shares_memory = conversation_->is_shared_memory()};
    traits.round_trip.reset();
    if (known_info()) traits.round_trip = conversation_->round_trip();
    return traits;
  }
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
  void stats(const StatsCallback& done) override {
    conversation_->ask_beside<proto::StatsReport>(proto::Stats{}, [done](const Result<proto::StatsReport>& answer) {
      answer.ok() ? done(answer->stats) : done(answer.status());
    });
  }
  void prepare_group(const proto::GroupPlace& place, const AddressCallback& done) override {
    conversation_->ask_beside<proto::GroupAddress>(proto::PrepareGroup{0, place},
                                                   [done](const Result<proto::GroupAddress>& answer) {
                                                     answer.ok() ? done(answer->address) : done(answer.status());
                                                   });
  }
  void open_group(const proto::GroupPlace& place, std::vector<std::string> addresses,
                  std::chrono::milliseconds deadline, const SyncCallback& done) override {
    conversation_->ask_beside<proto::GroupDone>(
        proto::OpenGroup{0, place, std::move(addresses), deadline},
        [done](const Result<proto::GroupDone>& answer) { done(answer.status()); });
  }
  void abort_group(std::uint32_t group, std::uint64_t epoch, const Status& why) override {
    conversation_->ask_beside<proto::GroupDone>(proto::AbortGroup{0, group, epoch, why},
                                                [](const Result<proto::GroupDone>&) {});
  }
  void begin_burst() override { conversation_->begin_burst(); }
  void end_burst() override { conversation_->end_burst(); }
  void close() override { conversation_->close(); }

  WireStats wire_stats() const override { return conversation_->stats(); }

 private:
  const std::shared_ptr<Conversation> conversation_;
};

Status ConversationSession::write(proto::TensorId id, proto::HostTensor tensor) {
  auto& [type, bytes] = tensor;
  if (bytes.size() != type.num_bytes()) {
    return invalid_argument(
        fmt::format("{} bytes for {}, which has {}", bytes.size(), ir::to_string(type), type.num_bytes()));
  }
  // Before the welcome the limit is unknown, and the server refuses it.
  if (const auto* info = known_info(); info && bytes.size() > info->max_tensor_bytes) {
    return resource_exhausted(fmt::format("{} has {} bytes; the server takes tensors of {}", ir::to_string(type),
                                          bytes.size(), info->max_tensor_bytes));
  }
  if (bytes.size() <= proto::kInlineBytes) return conversation_->send(proto::Write{id, type}, std::move(bytes));
  return conversation_->send(proto::Write{id, type}, {}, std::move(bytes));
}

Result<std::unique_ptr<RemoteSession>> open(const ChannelFactory& factory, const std::string& url, std::uint32_t device,
                                            const ConnectOptions& options, bool tries_again) {
  const auto conversation = std::make_shared<Conversation>(url, device, factory, options, tries_again);
  auto session = std::make_unique<ConversationSession>(conversation);  // closes without a welcome
  BURN_RETURN_IF_ERROR(conversation->start());
  return std::unique_ptr<RemoteSession>(std::move(session));
}

}  // namespace

Result<std::unique_ptr<RemoteSession>> connect_over(const ChannelFactory& factory, const std::string& url,
                                                    const ConnectOptions& options) {
  const auto endpoint = parse_url(url);  // a factory may know URLs of its own, which name no device
  return open(factory, url, endpoint.ok() ? endpoint->device : 0, options, false);
}

Result<std::unique_ptr<RemoteSession>> connect(const std::string& url, const ConnectOptions& options) {
  BURN_TRY(const Endpoint endpoint, parse_url(url));
  const auto factory = [url](std::shared_ptr<proto::ChannelHandler> handler, std::chrono::milliseconds timeout) {
    return connect_channel(url, std::move(handler), timeout);
  };
  ConnectOptions with_token = options;
  if (options.token.empty()) with_token.token = setting(Setting::token);
  return open(factory, url, endpoint.device, with_token, true);
}

}  // namespace burn::net
