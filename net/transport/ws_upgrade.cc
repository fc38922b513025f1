#include "net/transport/ws_upgrade.h"

#include <utility>

#include <sys/uio.h>

#include "net/transport/ws_handshake.h"

namespace burn::net::ws {
namespace {

constexpr char kInMemory = 'm', kOnSocket = 's';

}  // namespace

Upgrade::Upgrade(LoopSocket& socket, Role role, bool may_share_memory, std::span<const std::string> origins)
    : socket_(socket),
      role_(role),
      may_share_memory_(may_share_memory && shared_memory_is_wanted() && socket.is_unix()),
      origins_(origins.begin(), origins.end()) {}

void Upgrade::ask(const std::string& host, std::optional<proto::EncodedFrame> greeting) {
  key_ = make_key();
  if (may_share_memory_) socket_.await_descriptor();
  greeting_ = std::move(greeting);
  const bool is_early = greeting_ && greeting_->payload.empty() && greeting_->size() <= kMaxEarlyBytes;
  write(upgrade_request(host, key_, may_share_memory_, is_early ? greeting_->header : std::string_view{}));
}

Result<bool> Upgrade::proceed(Inbox& inbox) {
  if (offered_) return read_choice(inbox, *offered_);
  const std::size_t size = http_header_size(inbox.text());
  if (size == 0) {
    if (role_ == Role::server && begins_tls(inbox.text())) {
      write(answer_tls());
      return invalid_argument("the client begins TLS, which is not spoken here");
    }
    if (inbox.is_full()) return invalid_argument("an endless HTTP header");
    return false;
  }
  const std::string header{inbox.text().substr(0, size)};
  inbox.skip(size);
  if (role_ == Role::client) return accept(header);
  BURN_RETURN_IF_ERROR(answer(header));
  return offered_ ? read_choice(inbox, *offered_) : true;
}

Status Upgrade::answer(std::string_view request) {
  UniqueFd descriptor;
  const auto share_memory = [&] {
    if (!may_share_memory_) return false;
    auto memory = SharedMemory::create(&descriptor);
    if (!memory.ok()) return false;
    offered_.emplace(*std::move(memory));
    return true;
  };
  Answer answer = answer_upgrade(request, share_memory, origins_);
  hello_ = std::move(answer.hello);
  write(answer.text, descriptor);
  return answer.status;
}

Result<bool> Upgrade::read_choice(Inbox& inbox, SharedMemory& offered) {
  if (inbox.text().empty()) return false;
  const char choice = inbox.text().front();
  if (choice != kInMemory && choice != kOnSocket) return invalid_argument("shared memory was neither taken nor left");
  if (choice == kInMemory) {
    inbox.skip(inbox.text().size());  // the choice and wake-up bytes; frames are in the memory
    share(std::move(offered));
  } else {
    inbox.skip(1);
  }
  offered_.reset();
  return true;
}

Result<bool> Upgrade::accept(std::string_view response) {
  BURN_TRY(const Upgraded upgraded, check_upgrade(response, key_));
  if (upgraded.took_hello) greeting_.reset();
  const UniqueFd descriptor = socket_.take_descriptor();
  if (!may_share_memory_ || !upgraded.shares_memory) return true;
  auto memory = SharedMemory::open(descriptor);
  write({memory.ok() ? &kInMemory : &kOnSocket, 1});
  if (memory.ok()) share(*std::move(memory));
  return true;
}

void Upgrade::share(SharedMemory memory) {
  shares_memory_ = true;
  socket_.move_into(std::move(memory), role_ == Role::server);
}

// An empty socket accepts all of it; a full one is not being read, so the peer would not have seen the lost bytes. A
// descriptor may be refused; it is then lost, and the bytes are sent without it.
void Upgrade::write(std::string_view text, const UniqueFd& descriptor) {
  iovec part{const_cast<char*>(text.data()), text.size()};
  if (descriptor && socket_.write_with({&part, 1}, descriptor).error == 0) return;
  (void)socket_.write({&part, 1});
}

}  // namespace burn::net::ws
