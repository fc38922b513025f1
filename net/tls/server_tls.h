// The TLS of a server's listeners: its identity, which is replaced without a restart when its files are replaced.
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

// A file in memory, whose path in /proc always opens the newest contents, for libraries that only read files.
// Thread-safe.
class MemoryFile {
 public:
  // Replaces the contents. Errors: UNAVAILABLE when the system has no memory or descriptor for it.
  Status set(const std::string& text);
  std::string path() const;  // Requires: set() was called.

 private:
  UniqueFd file_;
  std::int64_t changed_ = 0;  // time stamp of the file; grows by whole seconds, as readers may compare seconds
};

// Outcomes of clients' handshakes, on transports that report them.
enum class HandshakeResult : std::uint8_t { ok, plain_text, refused_by_client, bad_certificate, version, cut };
inline constexpr std::size_t kHandshakeResults = 6;

// Thread-safe.
class ServerTls {
 public:
  // Errors: ServerIdentity::read()'s.
  static Result<std::shared_ptr<ServerTls>> open(ServerFiles files);

  std::shared_ptr<const ServerIdentity> current() const;
  ClientCertificates client_certificates() const { return files_.client_certificates; }

  // Reads the files again; open connections keep their identity. Errors: ServerIdentity::read()'s; the identity then
  // stays as it was.
  Status reload();
  // The same if a file was replaced or written since the last attempt to read it, successful or not. std::nullopt if
  // none was.
  std::optional<Status> reload_if_changed();

  // Paths of the current identity's files, for gRPC.
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
  Stamps read_;                                     // of the last attempt to read. Guarded by `mutex_`.
  MemoryFile key_and_chain_, client_ca_;            // set while `mutex_` is held
  std::array<std::atomic<std::uint64_t>, kHandshakeResults> counts_{};
};

}  // namespace burn::net::tls
