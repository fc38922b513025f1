// What executes programs on one device. Backends take whole programs, not calls: a Backend has eight methods to
// implement, its Stream six.
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

  virtual std::string_view name() const = 0;  // as open_backend() takes it: "cpu", "cuda:1"
  virtual Limits limits() const = 0;
  // Whether runs take cores of this process; false: the device works by itself.
  virtual bool computes_on_host() const { return true; }
  virtual MemoryStats memory() const = 0;
  // Whether a program may contain this op on these operand types, which fit it; otherwise UNIMPLEMENTED, naming it.
  virtual Status supports(const ir::Op& op, std::span<const ir::TensorType* const> operands) const = 0;
  // Uninitialised memory of exactly so many bytes, which a Stream of this backend uploads without a copy on the host,
  // where it can. Errors: RESOURCE_EXHAUSTED.
  virtual Result<HostBlockPtr> host_block(std::size_t bytes) = 0;
  // Requires: supports() said yes to every op. Errors: RESOURCE_EXHAUSTED; UNIMPLEMENTED, naming op and call site.
  virtual Result<std::unique_ptr<Executable>> compile(std::shared_ptr<const ir::Program> program) = 0;
  // Another order of work, beside those there are. `sink` is told of failures until the stream is gone.
  virtual Result<std::unique_ptr<Stream>> open_stream(FailureSink sink) = 0;
  // What a session's runs perform collectives by (RunArgs::groups), given a group of direct links to the other members,
  // which are asked at the same time. They have to be of the same kind of backend. May wait for them, until the
  // deadline or until the links end. Errors: why the group is not formed; then the links have ended.
  virtual Result<std::shared_ptr<Collective>> join_group(std::shared_ptr<Collective> links,
                                                         std::chrono::milliseconds /*deadline*/) {
    return links;
  }
  // Gives memory that no buffer uses, and that none has used for so long, back to the system, until at most `keep`
  // bytes of it are left. How many bytes that was. Takes its time; runs may go on beside it.
  virtual std::uint64_t trim(std::uint64_t /*keep*/, std::chrono::milliseconds /*unused_for*/) { return 0; }

  // Counts memory of the host that is neither buffer nor block, before it is taken: what a worker's sessions keep of
  // queues, programs and tables. Buffers of a device that computes in host memory are of the same account.
  // Errors: RESOURCE_EXHAUSTED, and nothing is counted.
  virtual Status take_host(std::uint64_t bytes);
  virtual void give_host(std::uint64_t bytes) { host_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }
  // Ok, or why the device cannot be used again before the process is started again. Asked often, while it works: must
  // not wait for what it computes.
  virtual Status health() const { return {}; }
  std::uint64_t host_bytes() const { return host_bytes_.load(std::memory_order_relaxed); }

 protected:
  std::atomic<std::uint64_t> host_bytes_ = 0;  // taken
};

// Backend::supports() as rewriting asks it. The backend outlives it.
inline compile::Supports supports_of(const Backend& backend) {
  return [&backend](const ir::Op& op, std::span<const ir::TensorType* const> operands) {
    return backend.supports(op, operands);
  };
}

}  // namespace burn::backends
