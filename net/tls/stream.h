// One connection's TLS, of either end, over a socket that does not block. Reads and writes like such a socket.
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

// For one thread at a time.
class Stream {
 public:
  struct Moved {
    std::size_t bytes = 0;
    int error = 0;         // an errno; EPROTO: failure() says why
    bool is_more = false;  // reading: it is worth another try at once
  };

  // `socket` outlives it. Throw std::bad_alloc.
  static std::unique_ptr<Stream> accept(std::shared_ptr<ServerTls> server, int socket);
  // `host`: what the server's certificate has to name, a name or an address in digits. `protocol`: what is to be spoken
  // above TLS (ALPN), empty: it is not said.
  static std::unique_ptr<Stream> connect(std::shared_ptr<const ClientIdentity> identity, const std::string& host,
                                         int socket, const std::string& protocol = {});
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();

  // True: hands are shaken. False: to be called again when the socket is readable, or writable if wants_to_write().
  // Errors: UNAVAILABLE with why they never will be; the peer has been told as far as TLS tells.
  Result<bool> shake_hands();
  bool wants_to_write() const { return !out_.empty(); }

  // Once hands are shaken. After a failure what still comes is read and dropped, so that the peer gets to read why.
  Moved read(std::span<const iovec> parts);
  // What is written is the beginning of `parts`; the rest has to come again, the same bytes, with the next call.
  Moved write(std::span<const iovec> parts);
  bool has_input() const;
  void end_writing();

  // Whether the first that came was of TLS.
  bool has_met_tls() const;
  // Why it does not go on; ok where it does.
  const Status& failure() const { return failure_; }
  // The names in the certificate that the peer has proved to be its own (names_of); empty without one.
  std::vector<std::string> peer_names() const;

 private:
  friend struct StreamBio;
  static constexpr std::size_t kRecordBytes = std::size_t{16} << 10;
  static constexpr std::size_t kBatchBytes = 4 * kRecordBytes;         // encrypted before they are sent
  static constexpr std::size_t kMaxOutBytes = std::size_t{256} << 10;  // of answers that the peer makes TLS give

  Stream(Role role, SSL_CTX* context, int socket, std::shared_ptr<const void> held);
  static int on_verified(int is_fine, X509_STORE_CTX* store);
  Status describe_failure();
  Status failed_verification(X509_STORE_CTX* store) const;
  // Sends what is encrypted. False: the socket takes no more now. An error is in socket_error_.
  bool send_out();
  std::size_t encrypt(std::span<const std::byte> bytes);

  const Role role_;
  const int socket_;
  const std::shared_ptr<const void> held_;  // the owner of the context
  std::shared_ptr<ServerTls> server_;       // a server's
  std::string host_;                        // a client's
  SslPtr ssl_;
  bool is_shaken_ = false, is_at_end_ = false, has_told_failure_ = false;
  std::size_t handshake_bytes_ = 0;
  int first_byte_ = -1;  // that came
  Status verification_;  // of the peer's certificate
  Status failure_;
  int socket_error_ = 0;
  std::vector<std::byte> out_;    // encrypted
  std::size_t out_begin_ = 0;     // of out_: what is sent already
  std::size_t unreported_ = 0;    // bytes that are encrypted, and were not said to be written
  std::vector<std::byte> piece_;  // a record's content that lies in several parts
};

}  // namespace burn::net::tls
