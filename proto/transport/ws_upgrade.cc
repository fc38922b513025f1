#include "proto/transport/ws_upgrade.h"

#include <sys/uio.h>

#include <utility>

#include "proto/transport/ws_handshake.h"

namespace burn::proto::ws {
namespace {

constexpr char kInMemory = 'm', kOnSocket = 's';

iovec part_of(std::string_view text) { return {const_cast<char*>(text.data()), text.size()}; }

}  // namespace

Upgrade::Upgrade(LoopSocket& socket, Role role, bool may_share_memory)
    : socket_(socket), role_(role), may_share_memory_(may_share_memory && shared_memory_is_wanted() && socket.is_unix()) {}

void Upgrade::ask(const std::string& host) {
  key_ = make_key();
  if (may_share_memory_) socket_.await_descriptor();
  write(upgrade_request(host, key_, may_share_memory_));
}

Result<bool> Upgrade::proceed(Inbox& inbox) {
  if (offered_) return hear_choice(inbox);
  const std::size_t size = http_header_size(inbox.text());
  if (size == 0) {
    if (inbox.is_full()) return invalid_argument("an endless HTTP header");
    return false;
  }
  const std::string header{inbox.text().substr(0, size)};
  inbox.skip(size);
  return role_ == Role::server ? answer(header) : accept(header);
}

Result<bool> Upgrade::answer(std::string_view request) {
  UniqueFd descriptor;
  const auto share_memory = [&] {
    if (!may_share_memory_) return false;
    auto memory = SharedMemory::create(&descriptor);
    if (memory.ok()) offered_.emplace(*std::move(memory));
    return memory.ok();
  };
  const Answer answer = answer_upgrade(request, share_memory);
  if (!offered_) {
    write(answer.text);
    if (!answer.status.ok()) return answer.status;
    return true;
  }
  iovec part = part_of(answer.text);
  socket_.send_descriptor({&part, 1}, descriptor);
  return false;
}

Result<bool> Upgrade::hear_choice(Inbox& inbox) {
  if (inbox.text().empty()) return false;
  const char choice = inbox.text().front();
  if (choice != kInMemory && choice != kOnSocket) return invalid_argument("shared memory was neither taken nor left");
  auto memory = *std::exchange(offered_, std::nullopt);
  if (choice == kInMemory) {
    inbox.skip(inbox.text().size());  // the choice, and bells: frames are in the memory
    share(std::move(memory));
  } else {
    inbox.skip(1);
  }
  return true;
}

Result<bool> Upgrade::accept(std::string_view response) {
  BURN_TRY(const Upgraded upgraded, check_upgrade(response, key_));
  auto memory = SharedMemory::open(socket_.take_descriptor());
  if (!may_share_memory_ || !upgraded.shares_memory) return true;
  write({memory.ok() ? &kInMemory : &kOnSocket, 1});
  if (memory.ok()) share(*std::move(memory));
  return true;
}

void Upgrade::share(SharedMemory memory) {
  shares_memory_ = true;
  socket_.move_into(std::move(memory), role_ == Role::server);
}

void Upgrade::write(std::string_view text) {
  iovec part = part_of(text);
  (void)socket_.write({&part, 1});  // an empty socket takes it
}

}  // namespace burn::proto::ws
