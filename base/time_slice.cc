#include "base/time_slice.h"

#include <cstdint>

#include <sys/syscall.h>
#include <unistd.h>

namespace burn {
namespace {

constexpr std::uint64_t kBrief = 100'000;  // ns; the system's minimum

// The kernel's struct sched_attr, which glibc 2.36 does not declare.
struct Attributes {
  std::uint32_t size = 0, policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0;  // for SCHED_OTHER: the slice's length, or 0 for the system's default
  std::uint64_t deadline = 0, period = 0;
};
static_assert(sizeof(Attributes) == 48);

constexpr std::uint32_t kUsualPolicy = 0;  // SCHED_OTHER

bool read_attributes(Attributes& now) {
  return ::syscall(SYS_sched_getattr, 0, &now, sizeof now, 0) == 0 && now.policy == kUsualPolicy;
}

}  // namespace

void request_time_slice(TimeSlice slice) {
  Attributes now;
  if (!read_attributes(now)) return;
  now.size = sizeof now;
  now.runtime = slice == TimeSlice::brief ? kBrief : 0;
  (void)::syscall(SYS_sched_setattr, 0, &now, 0);  // best effort: older kernels refuse
}

bool has_brief_time_slice() {
  Attributes now;
  return read_attributes(now) && now.runtime == kBrief;
}

}  // namespace burn
