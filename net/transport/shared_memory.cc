#include "net/transport/shared_memory.h"

#include <cerrno>
#include <string_view>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/settings.h"

namespace burn::net {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

Status failed(std::string_view what) {
  return unavailable("shared memory: " + std::string{what} + ": " + errno_text(errno));
}

}  // namespace

Result<SharedMemory> SharedMemory::map(int fd) {
  void* at = ::mmap(nullptr, sizeof(Layout), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return failed("mmap");
  return SharedMemory{static_cast<Layout*>(at)};
}

Result<SharedMemory> SharedMemory::create(UniqueFd* descriptor) {
  UniqueFd fd{::memfd_create("burn", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  if (!fd) return failed("memfd_create");
  if (::ftruncate(fd.get(), sizeof(Layout)) != 0) return failed("ftruncate");
  if (::fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0) return failed("F_ADD_SEALS");
  BURN_TRY(SharedMemory memory, map(fd.get()));
  *descriptor = std::move(fd);
  return memory;
}

Result<SharedMemory> SharedMemory::open(const UniqueFd& descriptor) {
  const int seals = ::fcntl(descriptor.get(), F_GET_SEALS);
  if (seals < 0) return failed("F_GET_SEALS");
  if ((seals & kSeals) != kSeals) return unavailable("shared memory: it is not sealed");
  struct stat about {};
  if (::fstat(descriptor.get(), &about) != 0) return failed("fstat");
  if (about.st_size != sizeof(Layout)) return unavailable("shared memory: it has another size");
  return map(descriptor.get());
}

SharedMemory::~SharedMemory() {
  if (layout_) ::munmap(layout_, sizeof(Layout));
}

bool shared_memory_is_wanted() { return !is_off(Setting::shared_memory); }

}  // namespace burn::net
