// The exchange before the first frame: the HTTP handshake and, if both sides agree on shared memory, one byte more.
//
// A client on a unix socket asks for shared memory in its request. A server that grants it says so in its response and
// sends the memory's descriptor along. A proxy that forwards the socket's bytes loses descriptors, and mapping may
// fail; so the client decides: it sends one byte, 'm' if it has the memory, 's' to stay with the socket. After an 'm'
// only wake-up bytes are sent on the socket, in either direction; after an 's' the socket is used as usual.
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

// The upgrade of one side. Requires: the loop's thread.
class Upgrade {
 public:
  // `origins`: for a server: pages that may connect.
  Upgrade(LoopSocket& socket, Role role, bool may_share_memory, std::span<const std::string> origins = {});

  // Sends the client's request. `greeting`: its first message, which is sent with the request if it is short.
  void ask(const std::string& host, std::optional<proto::EncodedFrame> greeting);
  // Called after more bytes have arrived. True: the handshake is done, and what follows in the inbox are frames.
  // Errors: why it failed; a server has told the client.
  Result<bool> proceed(Inbox& inbox);
  // Requires: the handshake is done. A client's greeting if it is still to be sent; a greeting that a server received.
  std::optional<proto::EncodedFrame> take_unsent_greeting() { return std::exchange(greeting_, std::nullopt); }
  std::string take_hello() { return std::exchange(hello_, {}); }
  // For any thread, once the handshake is done.
  bool shares_memory() const { return shares_memory_; }

 private:
  Status answer(std::string_view request);
  Result<bool> accept(std::string_view response);
  Result<bool> read_choice(Inbox& inbox, SharedMemory& offered);  // `offered`: the value of offered_
  void share(SharedMemory memory);
  void write(std::string_view text, const UniqueFd& descriptor = {});

  LoopSocket& socket_;
  const Role role_;
  const bool may_share_memory_;
  const std::vector<std::string> origins_;
  bool shares_memory_ = false;
  std::string key_;                              // a client's
  std::optional<proto::EncodedFrame> greeting_;  // a client's, until it is known that the server has it
  std::string hello_;                            // a server's: the greeting in the request
  std::optional<SharedMemory> offered_;          // a server's, until the client has chosen
};

}  // namespace burn::net::ws
