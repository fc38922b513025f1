// The TLS of a server's listeners: its identity, replaced without a restart when its files are.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/status.h"
#include "base/unique_fd.h"
#include "net/tls/file_stamp.h"
#include "net/tls/identity.h"
#include "net/tls/options.h"

namespace burn::net::tls {

// A file in memory, under a name in /proc that always opens the newest text, for libraries that read files only.
// Thread-safe.
class MemoryFile {
 public:
  // Errors: UNAVAILABLE where the system has no memory or descriptor for it.
  Status set(const std::string& text);
  std::string path() const;  // Requires: set() was called.

 private:
  UniqueFd file_;
  std::int64_t changed_ = 0;  // when, in whole seconds, as readers may compare those
};

// How clients' handshakes ended, of transports that tell.
enum class HandshakeResult : std::uint8_t { ok, plain_text, refused_by_client, bad_certificate, version, cut };
inline constexpr std::size_t kHandshakeResults = 6;

// Thread-safe.
class ServerTls {
 public:
  // Errors: ServerIdentity::read()'s.
  static Result<std::shared_ptr<ServerTls>> open(ServerFiles files);

  std::shared_ptr<const ServerIdentity> current() const;
  ClientCertificates client_certificates() const { return files_.client_certificates; }

  // Reads the files again; connections that are open keep what they have. Errors, after which the identity is what it
  // was: ServerIdentity::read()'s.
  Status reload();
  // The same if a file was replaced or written since it was last read, be it in vain. Nothing: none was.
  std::optional<Status> reload_if_changed();

  // Of the current identity, for gRPC.
  std::string key_and_chain_path() const { return key_and_chain_.path(); }
  std::string client_ca_path() const { return client_ca_.path(); }

  void count(HandshakeResult result) {
    counts_[static_cast<std::size_t>(result)].fetch_add(1, std::memory_order_relaxed);
  }
  std::uint64_t counted(HandshakeResult result) const {
    return counts_[static_cast<std::size_t>(result)].load(std::memory_order_relaxed);
  }

 private:
  using Stamps = std::array<FileStamp, 3>;
  explicit ServerTls(ServerFiles files) : files_(std::move(files)) {}
  Stamps stamps() const;
  Status read();  // Requires: the lock.

  const ServerFiles files_;
  mutable std::mutex mutex_;
  std::shared_ptr<const ServerIdentity> identity_;  // Guarded by `mutex_`.
  Stamps read_;                                     // of what was last read. Guarded by `mutex_`.
  MemoryFile key_and_chain_, client_ca_;            // set with the lock
  std::array<std::atomic<std::uint64_t>, kHandshakeResults> counts_{};
};

}  // namespace burn::net::tls
