// What both sides send before the first frame: the HTTP handshake and, if they agree on shared memory, one byte more.
//
// A client on a unix socket asks for shared memory in its request. A server that grants it confirms it in its response
// and sends the memory's descriptor along. Descriptors get lost where a proxy passes bytes on (a forwarded socket),
// and mapping may fail; so the client has the last word: one byte, 'm' if it has the memory, 's' to stay with the
// socket. Behind an 'm' nothing but wake-up bytes comes on the socket, in either direction, and behind an 's' nothing
// has changed.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "net/transport/loop_socket.h"
#include "net/transport/shared_memory.h"
#include "net/transport/ws_frame.h"
#include "net/transport/ws_inbox.h"
#include "proto/codec.h"

namespace burn::net::ws {

// Of one side; for the loop's thread.
class Upgrade {
 public:
  // `origins`: of a server, of pages that may connect.
  Upgrade(LoopSocket& socket, Role role, bool may_share_memory, std::span<const std::string> origins = {});

  // The client's opening. `greeting`: its first message, which travels with it if it is short.
  void ask(const std::string& host, std::optional<proto::EncodedFrame> greeting);
  // After more has come in. True: hands are shaken, what follows in the inbox are frames. Errors: why they never will
  // be; a server has told the client.
  Result<bool> proceed(Inbox& inbox);
  // Once hands are shaken. A client's greeting, if it is still to be sent; what a server has got of one.
  std::optional<proto::EncodedFrame> take_unsaid() { return std::exchange(greeting_, std::nullopt); }
  std::string take_hello() { return std::exchange(hello_, {}); }
  // For any thread, once hands are shaken.
  bool shares_memory() const { return shares_memory_; }

 private:
  Status answer(std::string_view request);
  Result<bool> accept(std::string_view response);
  Result<bool> read_choice(Inbox& inbox, SharedMemory& offered);  // `offered`: what offered_ holds
  void share(SharedMemory memory);
  void write(std::string_view text, const UniqueFd& descriptor = {});

  LoopSocket& socket_;
  const Role role_;
  const bool may_share_memory_;
  const std::vector<std::string> origins_;
  bool shares_memory_ = false;
  std::string key_;                              // a client's, as is
  std::optional<proto::EncodedFrame> greeting_;  // until it is known that the server has it
  std::string hello_;                            // a server's: what came with the request
  std::optional<SharedMemory> offered_;          // a server's, until the client has chosen
};

}  // namespace burn::net::ws
