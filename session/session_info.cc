#include "session/session_info.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "backends/cpu/simd/isa.h"
#include "proto/message.h"
#include "session/version.h"

namespace burn::session {
namespace {

// 64-bit FNV-1a; never 0, which means "unknown".
std::uint64_t hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const auto c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash == 0 ? 1 : hash;
}

// "cuda" of "cuda:1"
std::string_view kind_of(const backends::Backend& backend) {
  const auto name = backend.name();
  return name.substr(0, name.find(':'));
}

// The instruction set of a processor; the memory size of another device, as a proxy for its model.
std::string class_of(const backends::Backend& backend) {
  if (!backend.computes_on_host()) return fmt::format("{} bytes", backend.limits().memory_bytes);
  return backends::cpu::runs_v4() ? "v4" : backends::cpu::runs_v3() ? "v3" : "baseline";
}

}  // namespace

std::uint64_t numerics_of(const backends::Backend& backend) {
  return hash(fmt::format("{}\n{}\n{}", kServerName, kind_of(backend), class_of(backend)));
}

proto::Usage usage_of(const Worker& worker) {
  const auto stats = worker.stats();
  return {.memory_in_use = stats.memory_in_use,
          .memory_peak = stats.memory_peak,
          .memory_reserved = stats.memory_reserved,
          .memory_limit = stats.memory_limit,
          .host_bytes = stats.host_bytes,
          .runs = stats.runs,
          .busy_seconds = std::chrono::duration<double>(stats.busy).count()};
}

proto::SessionInfo describe_session(Worker& worker, const serving::Quotas& quotas) {
  static std::atomic<std::uint64_t> counter = 0;
  const auto limits = worker.backend().limits();
  proto::SessionInfo info;
  info.server = kServerName;
  info.session = fmt::format("s-{}", ++counter);
  info.devices = {std::string{worker.backend().name()}};
  info.max_tensor_bytes = std::min({limits.max_buffer_bytes, quotas.tensor_bytes, limits.memory_bytes});
  info.max_in_flight = quotas.in_flight;
  info.bulk_credit = proto::kInitialCredit;
  info.max_programs = quotas.programs;
  info.max_program_entries = quotas.program_entries;
  info.numerics = numerics_of(worker.backend());
  return info;
}

}  // namespace burn::session
