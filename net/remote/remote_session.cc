#include "net/remote/remote_session.h"

#include <atomic>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "base/one_line.h"
#include "base/settings.h"
#include "net/dial/connect.h"
#include "net/remote/conversation.h"

namespace burn::net {
namespace {

// A tensor whose parts are sent as they arrive.
class PartUpload final : public proto::ServedSession::Upload {
 public:
  // `seq`: number of the Write that announces it.
  PartUpload(std::shared_ptr<Conversation> conversation, std::uint64_t seq, proto::TensorId id, std::uint64_t size)
      : conversation_(std::move(conversation)), seq_(seq), id_(id), size_(size) {}

  Status fill(std::uint64_t offset, std::span<const std::byte> bytes) override {
    return fill_shared(offset, SharedBytes::own(std::vector<std::byte>(bytes.begin(), bytes.end())));
  }
  Status fill_shared(std::uint64_t offset, const SharedBytes& bytes) override {
    if (bytes.size() > size_ - filled_ && offset == filled_)
      return {StatusCode::out_of_range, fmt::format("{} bytes from {} of a tensor of {}", bytes.size(), offset, size_)};
    if (offset != filled_) return invalid_argument(fmt::format("bytes from {} where {} is due", offset, filled_));
    filled_ += bytes.size();
    return bytes.empty() ? Status{} : conversation_->send_part(seq_, id_, offset, bytes);
  }
  std::shared_ptr<std::byte> destination(std::uint64_t /*offset*/, std::size_t /*size*/) override { return nullptr; }
  bool complete() const override { return filled_ == size_; }

 private:
  const std::shared_ptr<Conversation> conversation_;
  const std::uint64_t seq_;
  const proto::TensorId id_;
  const std::uint64_t size_;
  std::uint64_t filled_ = 0;
};

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
  std::optional<std::chrono::steady_clock::time_point> announced_end() override {
    return conversation_->announced_end();
  }

  Status define(proto::ProgramId id, std::shared_ptr<const ir::Program> program,
                std::vector<proto::ProgramId> forget) override {
    return conversation_->send(proto::DefineProgram{id, std::move(program), std::move(forget)});
  }
  Status run(proto::Run run) override { return conversation_->send(proto::RunProgram{std::move(run)}); }
  Status write(proto::TensorId id, proto::HostTensor tensor, proto::WriteOptions options) override;
  Status release(std::vector<proto::TensorId> ids) override {
    return conversation_->send(proto::Release{std::move(ids)});
  }
  void read(proto::TensorId id, ReadCallback done) override { conversation_->ask_read(id, std::move(done)); }
  void sync(SyncCallback done) override { conversation_->ask_sync(std::move(done)); }
  void stats(const StatsCallback& done) override {
    conversation_->ask_unordered<proto::StatsReport>(proto::Stats{}, [done](const Result<proto::StatsReport>& answer) {
      answer.ok() ? done(answer->stats) : done(answer.status());
    });
  }
  void prepare_group(const proto::GroupPlace& place, const AddressCallback& done) override {
    conversation_->ask_unordered<proto::GroupAddress>(proto::PrepareGroup{0, place},
                                                      [done](const Result<proto::GroupAddress>& answer) {
                                                        answer.ok() ? done(answer->address) : done(answer.status());
                                                      });
  }
  void open_group(const proto::GroupPlace& place, std::vector<std::string> addresses,
                  std::chrono::milliseconds deadline, const SyncCallback& done) override {
    conversation_->ask_unordered<proto::GroupDone>(
        proto::OpenGroup{0, place, std::move(addresses), deadline},
        [done](const Result<proto::GroupDone>& answer) { done(answer.status()); });
  }
  void abort_group(std::uint32_t group, std::uint64_t epoch, const Status& why) override {
    conversation_->ask_unordered<proto::GroupDone>(proto::AbortGroup{0, group, epoch, why},
                                                   [](const Result<proto::GroupDone>&) {});
  }
  void begin_burst() override { conversation_->begin_burst(); }
  void end_burst() override { conversation_->end_burst(); }
  void close() override { conversation_->close(); }

  WireStats wire_stats() const override { return conversation_->stats(); }
  std::uint64_t op_set() const override { return conversation_->op_set(); }
  Status define_encoded(proto::ProgramId id, SharedBytes program, std::vector<proto::ProgramId> forget) override {
    return conversation_->send(
        proto::DefineProgram{.id = id, .forget = std::move(forget), .encoded = std::move(program)});
  }
  Result<std::unique_ptr<proto::ServedSession::Upload>> begin_upload(proto::TensorId id, const ir::TensorType& type,
                                                                     proto::WriteOptions options) override {
    BURN_TRY(const auto seq, conversation_->announce(proto::Write{id, type, options}));
    return std::unique_ptr<proto::ServedSession::Upload>{
        std::make_unique<PartUpload>(conversation_, seq, id, type.num_bytes())};
  }
  std::uint64_t upload_backlog() const override { return conversation_->waiting_part_bytes(); }
  void listen(Listener listener) override { conversation_->listen(std::move(listener)); }
  void begin_close() override { conversation_->begin_close(); }

 private:
  const std::shared_ptr<Conversation> conversation_;
};

Status ConversationSession::write(proto::TensorId id, proto::HostTensor tensor, proto::WriteOptions options) {
  auto& [type, bytes] = tensor;
  if (bytes.size() != type.num_bytes()) {
    return invalid_argument(
        fmt::format("{} bytes for {}, which has {}", bytes.size(), ir::to_string(type), type.num_bytes()));
  }
  BURN_RETURN_IF_ERROR(proto::check_batch_axis(options, type));
  // Before the welcome the limit is unknown, and the server refuses a tensor that is too large.
  if (const auto* info = known_info(); info && bytes.size() > info->max_tensor_bytes) {
    return resource_exhausted(fmt::format("{} has {} bytes; the server takes tensors of {}", ir::to_string(type),
                                          bytes.size(), info->max_tensor_bytes));
  }
  const proto::Write write{id, type, options};
  if (bytes.size() <= proto::kInlineBytes) return conversation_->send(write, std::move(bytes));
  return conversation_->send(write, {}, std::move(bytes));
}

// A token sent without encryption can be read and used by others.
Status check_token_is_safe(const std::string& url, const Endpoint& endpoint) {
  if (!is_unencrypted_remote(endpoint)) return {};
  if (setting(Setting::tls) == "required") {
    return failed_precondition("cannot connect to " + url +
                               ": the token would be sent without TLS, and BURN_TLS is required (write wss:// or "
                               "grpcs://)");
  }
  static std::atomic<bool> has_warned = false;
  if (!has_warned.exchange(true)) {
    std::fprintf(stderr, "burn: the token is sent without TLS to %s; write wss:// or grpcs:// (said once)\n",
                 one_line(url).c_str());
  }
  return {};
}

DeviceChoice device_of(const Endpoint& endpoint, const ConnectOptions& options) {
  if (!options.device_name.empty()) return {.number = 0, .name = options.device_name};
  return {endpoint.device, endpoint.device_name};
}

Result<std::unique_ptr<RemoteSession>> open(const ChannelFactory& factory, const std::string& url, DeviceChoice device,
                                            const ConnectOptions& options, std::shared_ptr<AddressChoice> addresses) {
  const auto conversation =
      std::make_shared<Conversation>(url, std::move(device), factory, options, std::move(addresses));
  auto session = std::make_unique<ConversationSession>(conversation);  // closed by its destructor if start() fails
  BURN_RETURN_IF_ERROR(conversation->start());
  return std::unique_ptr<RemoteSession>(std::move(session));
}

}  // namespace

Result<std::unique_ptr<RemoteSession>> connect_over(const ChannelFactory& factory, const std::string& url,
                                                    const ConnectOptions& options) {
  const auto endpoint = parse_url(url);  // a factory may have URLs of its own, which name no device
  return open(factory, url, endpoint.ok() ? device_of(*endpoint, options) : DeviceChoice{}, options, nullptr);
}

Result<std::unique_ptr<RemoteSession>> connect(const std::string& url, const ConnectOptions& options) {
  BURN_TRY(const Endpoint endpoint, parse_url(url));
  const auto addresses = std::make_shared<AddressChoice>();
  const auto factory = [url, tls = options.tls, addresses](std::shared_ptr<proto::ChannelHandler> handler,
                                                           std::chrono::milliseconds timeout) {
    return connect_channel(url, std::move(handler), timeout, tls, addresses.get());
  };
  ConnectOptions with_token = options;
  if (options.token.empty()) with_token.token = setting(Setting::token);
  if (!with_token.token.empty()) BURN_RETURN_IF_ERROR(check_token_is_safe(url, endpoint));
  return open(factory, url, device_of(endpoint, options), with_token, addresses);
}

}  // namespace burn::net
