// A backend executes programs on one device. Backends take whole programs, not single calls: a Backend has seven
// methods to implement, its Stream six.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "backends/stream.h"
#include "base/status.h"
#include "compile/rewrite/decompose.h"
#include "ir/program.h"

namespace burn::backends {

class Collective;  // backends/collective/collective.h

struct Limits {
  std::uint64_t max_buffer_bytes = 0;
  std::uint64_t memory_bytes = 0;  // of the device
};

struct MemoryStats {
  std::uint64_t in_use = 0;    // bytes held by live buffers
  std::uint64_t reserved = 0;  // taken from the system, in_use included
  std::uint64_t peak = 0;      // highest in_use so far
};

// Thread-safe. Outlives its streams and executables.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  virtual std::string_view name() const = 0;  // as open_backend() accepts it: "cpu", "cuda:1"
  virtual Limits limits() const = 0;
  // Whether runs use cores of this process; false: the device computes by itself.
  virtual bool computes_on_host() const { return true; }
  virtual MemoryStats memory() const = 0;
  // Ok if a program may contain this op on these operand types, which are valid for it; otherwise UNIMPLEMENTED, naming
  // it.
  virtual Status supports(const ir::Op& op, std::span<const ir::TensorType* const> operands) const = 0;
  // Uninitialised memory of exactly `bytes` bytes, which a Stream of this backend uploads without a copy on the host if
  // it can. Errors: RESOURCE_EXHAUSTED.
  virtual Result<HostBlockPtr> host_block(std::size_t bytes) = 0;
  // Requires: supports() returned ok for every op. Errors: RESOURCE_EXHAUSTED; UNIMPLEMENTED, naming op and call site.
  virtual Result<std::unique_ptr<Executable>> compile(std::shared_ptr<const ir::Program> program) = 0;
  // Opens another ordered queue of work. `sink` is called with failures until the stream is destroyed.
  virtual Result<std::unique_ptr<Stream>> open_stream(FailureSink sink) = 0;
  // Returns the object by which a session's runs perform collectives (RunArgs::groups). `links`: the group's direct
  // links to the other members, whose backends join at the same time and must be of the same kind. May wait for them,
  // until the deadline or until the links end. Errors: why the group is not formed; then the links have ended.
  virtual Result<std::shared_ptr<Collective>> join_group(std::shared_ptr<Collective> links,
                                                         std::chrono::milliseconds /*deadline*/) {
    return links;
  }
  // Returns memory to the system that no buffer uses and that has been unused for `unused_for`, until at most `keep`
  // bytes of it are left. Returns how many bytes that was. Takes a while; runs may go on meanwhile.
  virtual std::uint64_t trim(std::uint64_t /*keep*/, std::chrono::milliseconds /*unused_for*/) { return 0; }

  // Counts host memory that is neither buffer nor block, before it is allocated: what a worker's sessions keep of
  // queues, programs and tables. If the device computes in host memory, its buffers are counted against the same limit.
  // Errors: RESOURCE_EXHAUSTED, and nothing is counted.
  virtual Status take_host(std::uint64_t bytes);
  virtual void give_host(std::uint64_t bytes) { host_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }
  // Ok, or why the device cannot be used until the process is restarted. Called often while the device works: must not
  // wait for what it computes.
  virtual Status health() const { return {}; }
  std::uint64_t host_bytes() const { return host_bytes_.load(std::memory_order_relaxed); }

 protected:
  std::atomic<std::uint64_t> host_bytes_ = 0;  // counted by take_host(), not yet returned by give_host()
};

// Backend::supports() as the function that rewriting passes call. The backend must outlive it.
inline compile::Supports supports_of(const Backend& backend) {
  return [&backend](const ir::Op& op, std::span<const ir::TensorType* const> operands) {
    return backend.supports(op, operands);
  };
}

}  // namespace burn::backends
