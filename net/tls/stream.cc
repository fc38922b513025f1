#include "net/tls/stream.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "net/tls/certificate.h"

namespace burn::net::tls {

// OpenSSL's access to the socket. Reads come from it; writes are gathered until send_out(), so that several records
// leave in one system call, and without the SIGPIPE that a plain write() could raise.
struct StreamBio {
  static Stream& of(BIO* bio) { return *static_cast<Stream*>(::BIO_get_data(bio)); }

  static int read(BIO* bio, char* to, int size) {
    auto& stream = of(bio);
    ::BIO_clear_retry_flags(bio);
    if (!stream.is_handshake_done_ && stream.handshake_bytes_ > kMaxHandshakeBytes) return -1;
    const auto count = ::recv(stream.socket_, to, static_cast<std::size_t>(size), MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
      ::BIO_set_retry_read(bio);
    } else if (count < 0) {
      stream.socket_error_ = errno;
    } else if (count > 0) {
      if (stream.first_byte_ < 0) stream.first_byte_ = static_cast<unsigned char>(*to);
      if (!stream.is_handshake_done_) stream.handshake_bytes_ += static_cast<std::size_t>(count);
    }
    return static_cast<int>(count);
  }

  static int write(BIO* bio, const char* from, int size) {
    auto& stream = of(bio);
    ::BIO_clear_retry_flags(bio);
    if (stream.out_.size() > Stream::kMaxOutBytes) return -1;
    const auto* bytes = reinterpret_cast<const std::byte*>(from);
    stream.out_.insert(stream.out_.end(), bytes, bytes + size);
    return size;
  }

  static long control(BIO* /*bio*/, int what, long /*number*/, void* /*pointer*/) {
    return what == BIO_CTRL_FLUSH ? 1 : 0;
  }

  static int create(BIO* bio) {
    ::BIO_set_init(bio, 1);
    return 1;
  }

  static const BIO_METHOD* method() {
    static BIO_METHOD* const method = [] {
      BIO_METHOD* made = ::BIO_meth_new(::BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "burn socket");
      if (made == nullptr) throw std::bad_alloc{};
      ::BIO_meth_set_read(made, read);
      ::BIO_meth_set_write(made, write);
      ::BIO_meth_set_ctrl(made, control);
      ::BIO_meth_set_create(made, create);
      return made;
    }();
    return method;
  }
};

Stream::Stream(Role role, SSL_CTX* context, int socket, std::shared_ptr<const void> held)
    : role_(role), socket_(socket), held_(std::move(held)), ssl_(::SSL_new(context)) {
  BIO* const bio = ssl_ ? ::BIO_new(StreamBio::method()) : nullptr;
  if (bio == nullptr) throw std::bad_alloc{};
  ::BIO_set_data(bio, this);
  ::SSL_set_bio(ssl_.get(), bio, bio);
  SSL_set_app_data(ssl_.get(), this);
  ::SSL_set_verify(ssl_.get(), ::SSL_CTX_get_verify_mode(context), on_verified);
  role == Role::server ? ::SSL_set_accept_state(ssl_.get()) : ::SSL_set_connect_state(ssl_.get());
}

Stream::~Stream() = default;

std::unique_ptr<Stream> Stream::accept(std::shared_ptr<ServerTls> server, int socket) {
  auto identity = server->current();
  SSL_CTX* const context = identity->context();
  std::unique_ptr<Stream> stream{new Stream{Role::server, context, socket, std::move(identity)}};
  stream->server_ = std::move(server);
  return stream;
}

std::unique_ptr<Stream> Stream::connect(std::shared_ptr<const ClientIdentity> identity, const std::string& host,
                                        int socket, const std::string& protocol) {
  SSL_CTX* const context = identity->context();
  std::unique_ptr<Stream> stream{new Stream{Role::client, context, socket, std::move(identity)}};
  SSL* const ssl = stream->ssl_.get();
  stream->host_ = host;
  X509_VERIFY_PARAM* const rules = ::SSL_get0_param(ssl);
  ::X509_VERIFY_PARAM_set_hostflags(rules, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  const bool is_set = is_address(host) ? ::X509_VERIFY_PARAM_set1_ip_asc(rules, host.c_str()) == 1
                                       : ::SSL_set_tlsext_host_name(ssl, host.c_str()) == 1 &&
                                             ::X509_VERIFY_PARAM_set1_host(rules, host.data(), host.size()) == 1;
  if (!is_set) throw std::bad_alloc{};
  const std::string wanted = static_cast<char>(protocol.size()) + protocol;
  const auto* bytes = reinterpret_cast<const unsigned char*>(wanted.data());
  if (!protocol.empty() && ::SSL_set_alpn_protos(ssl, bytes, static_cast<unsigned>(wanted.size())) != 0)
    throw std::bad_alloc{};
  return stream;
}

Result<bool> Stream::do_handshake() {
  if (!failure_.ok()) return failure_;
  ::ERR_clear_error();
  const int done = ::SSL_do_handshake(ssl_.get());
  const bool would_block = done != 1 && ::SSL_get_error(ssl_.get(), done) == SSL_ERROR_WANT_READ;
  if (done != 1 && !would_block) failure_ = describe_failure();
  (void)send_out();  // may include an alert; what the socket does not accept is sent by the next write
  if (!failure_.ok()) {
    has_told_failure_ = true;
    return failure_;
  }
  is_handshake_done_ = done == 1;
  if (is_handshake_done_ && server_) server_->count(HandshakeResult::ok);
  return is_handshake_done_;
}

Stream::Moved Stream::read(std::span<const iovec> parts) {
  Moved moved;
  if (!failure_.ok() && !std::exchange(has_told_failure_, true)) return {0, EPROTO};
  if (!failure_.ok()) {
    std::array<char, 4096> dropped;
    const auto count = ::recv(socket_, dropped.data(), dropped.size(), MSG_DONTWAIT);
    if (count < 0) return {0, errno};
    return {static_cast<std::size_t>(count), 0, count > 0};
  }
  bool is_blocked = false;
  for (const iovec& part : parts) {
    auto* const to = static_cast<std::byte*>(part.iov_base);
    for (std::size_t filled = 0; filled < part.iov_len && !is_blocked;) {
      std::size_t count = 0;
      ::ERR_clear_error();
      const int got = is_at_end_ ? 0 : ::SSL_read_ex(ssl_.get(), to + filled, part.iov_len - filled, &count);
      filled += count;
      moved.bytes += count;
      if (got == 1) continue;
      is_blocked = true;
      if (is_at_end_) break;
      const int why = ::SSL_get_error(ssl_.get(), got);
      moved.is_more = why != SSL_ERROR_WANT_READ;  // the next call reports the end or the failure
      if (why == SSL_ERROR_ZERO_RETURN) is_at_end_ = true;
      if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_ZERO_RETURN) failure_ = describe_failure();
    }
  }
  if (!is_blocked) moved.is_more = true;
  (void)send_out();  // messages of TLS itself
  if (moved.bytes > 0) return moved;
  if (!failure_.ok()) {
    has_told_failure_ = true;
    return {0, EPROTO};
  }
  return {0, is_at_end_ ? 0 : EAGAIN};
}

// Encrypts at most one record into out_. Requires: at most kRecordBytes, and room in out_.
std::size_t Stream::encrypt(std::span<const std::byte> bytes) {
  std::size_t count = 0;
  ::ERR_clear_error();
  if (::SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &count) == 1) return count;
  failure_ = describe_failure();
  return 0;
}

namespace {

// Iterates over the bytes of several parts.
class Cursor {
 public:
  explicit Cursor(std::span<const iovec> parts) : parts_(parts) { settle(); }

  bool is_at_end() const { return parts_.empty(); }
  // The next contiguous bytes, `most` at most.
  std::span<const std::byte> next(std::size_t most) const {
    return {static_cast<const std::byte*>(parts_.front().iov_base) + gone_,
            std::min(most, parts_.front().iov_len - gone_)};
  }
  bool is_in_last() const { return parts_.size() == 1; }
  // Returns false if there are fewer bytes.
  bool skip(std::size_t count) {
    while (!is_at_end() && count > 0) {
      const auto step = std::min(count, parts_.front().iov_len - gone_);
      gone_ += step;
      count -= step;
      settle();
    }
    return count == 0;
  }

 private:
  void settle() {
    while (!parts_.empty() && gone_ == parts_.front().iov_len) {
      parts_ = parts_.subspan(1);
      gone_ = 0;
    }
  }

  std::span<const iovec> parts_;
  std::size_t gone_ = 0;  // bytes of the first part that are passed
};

}  // namespace

Stream::Moved Stream::write(std::span<const iovec> parts) {
  if (!failure_.ok() || !is_handshake_done_) return {0, EPIPE};
  Moved moved;
  if (!send_out()) return {0, socket_error_ != 0 ? socket_error_ : EAGAIN};
  Cursor cursor{parts};
  moved.bytes = std::exchange(unreported_, 0);
  if (!cursor.skip(moved.bytes)) return {0, EPIPE};  // the caller has not passed the same bytes again
  while (!cursor.is_at_end()) {
    std::size_t batch = 0;
    while (batch < kBatchBytes && !cursor.is_at_end()) {
      auto bytes = cursor.next(kRecordBytes);
      if (bytes.size() < kRecordBytes && !cursor.is_in_last()) {  // gathered: a record costs more than a copy
        piece_.clear();
        for (Cursor ahead = cursor; piece_.size() < kRecordBytes && !ahead.is_at_end();) {
          const auto more = ahead.next(kRecordBytes - piece_.size());
          piece_.insert(piece_.end(), more.begin(), more.end());
          ahead.skip(more.size());
        }
        bytes = piece_;
      }
      const auto count = encrypt(bytes);
      if (count == 0) return {0, EPIPE};
      cursor.skip(count);
      batch += count;
    }
    if (!send_out()) {
      unreported_ = batch;
      break;
    }
    moved.bytes += batch;
  }
  if (socket_error_ != 0) return {0, socket_error_};
  return {moved.bytes, moved.bytes == 0 && unreported_ > 0 ? EAGAIN : 0};
}

bool Stream::send_out() {
  while (out_begin_ < out_.size()) {
    const auto count = ::send(socket_, out_.data() + out_begin_, out_.size() - out_begin_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      if (errno != EAGAIN) socket_error_ = errno;
      return false;
    }
    out_begin_ += static_cast<std::size_t>(count);
  }
  out_.clear();
  out_begin_ = 0;
  return true;
}

bool Stream::has_input() const {
  char byte;
  return ::SSL_has_pending(ssl_.get()) == 1 || ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

void Stream::end_writing() {
  if (is_handshake_done_ && failure_.ok()) {
    ::ERR_clear_error();
    (void)::SSL_shutdown(ssl_.get());
    ::ERR_clear_error();
  }
  (void)send_out();
}

std::vector<std::string> Stream::peer_names() const {
  X509* const certificate = ::SSL_get0_peer_certificate(ssl_.get());
  return certificate == nullptr ? std::vector<std::string>{} : names_of(certificate);
}

}  // namespace burn::net::tls
