// The TLS of one connection, of either end, over a non-blocking socket. Reads and writes like such a socket.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "net/tls/context.h"
#include "net/tls/server_tls.h"

struct iovec;

namespace burn::net::tls {

// Used by one thread at a time.
class Stream {
 public:
  struct Moved {
    std::size_t bytes = 0;
    int error = 0;         // an errno; EPROTO: see failure()
    bool is_more = false;  // reading: more may be read at once
  };

  // `socket` must stay open as long as the stream. Throw std::bad_alloc.
  static std::unique_ptr<Stream> accept(std::shared_ptr<ServerTls> server, int socket);
  // `host`: the name or numeric address that the server's certificate has to name. `protocol`: the protocol above TLS
  // to offer (ALPN); empty: none is offered.
  static std::unique_ptr<Stream> connect(std::shared_ptr<const ClientIdentity> identity, const std::string& host,
                                         int socket, const std::string& protocol = {});
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();

  // Continues the handshake. True: it is done. False: call again when the socket is readable, or writable if
  // wants_to_write(). Errors: UNAVAILABLE with the reason why it failed; the peer was sent an alert if TLS has one for
  // it.
  Result<bool> do_handshake();
  bool wants_to_write() const { return !out_.empty(); }

  // Requires: the handshake is done. After a failure, further input is read and dropped, so that the peer can read the
  // alert.
  Moved read(std::span<const iovec> parts);
  // Writes a prefix of `parts`. The rest, the same bytes, must be passed again to the next call.
  Moved write(std::span<const iovec> parts);
  bool has_input() const;
  void end_writing();

  // Whether the first byte received begins a record of TLS.
  bool peer_speaks_tls() const;
  // Why the stream has failed; ok if it has not.
  const Status& failure() const { return failure_; }
  // The names in the peer's verified certificate (names_of); empty without one.
  std::vector<std::string> peer_names() const;

 private:
  friend struct StreamBio;
  static constexpr std::size_t kRecordBytes = std::size_t{16} << 10;
  static constexpr std::size_t kBatchBytes = 4 * kRecordBytes;         // encrypted before they are sent to the socket
  static constexpr std::size_t kMaxOutBytes = std::size_t{256} << 10;  // of output, which a peer can make TLS produce

  Stream(Role role, SSL_CTX* context, int socket, std::shared_ptr<const void> held);
  static int on_verified(int is_fine, X509_STORE_CTX* store);
  Status describe_failure();
  Status failed_verification(X509_STORE_CTX* store) const;
  // Sends the encrypted bytes. False: the socket accepts no more now. An error is stored in socket_error_.
  bool send_out();
  std::size_t encrypt(std::span<const std::byte> bytes);

  const Role role_;
  const int socket_;
  const std::shared_ptr<const void> held_;  // owns the context
  std::shared_ptr<ServerTls> server_;       // set for a server
  std::string host_;                        // set for a client
  SslPtr ssl_;
  bool is_handshake_done_ = false, is_at_end_ = false, has_told_failure_ = false;
  std::size_t handshake_bytes_ = 0;
  int first_byte_ = -1;  // the first byte received; -1: none yet
  Status verification_;  // why the peer's certificate was rejected
  Status failure_;
  int socket_error_ = 0;
  std::vector<std::byte> out_;    // encrypted bytes to be sent
  std::size_t out_begin_ = 0;     // bytes of out_ that are sent
  std::size_t unreported_ = 0;    // bytes encrypted but not yet reported by write()
  std::vector<std::byte> piece_;  // a record's content, gathered from several parts
};

}  // namespace burn::net::tls
