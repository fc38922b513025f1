#include "client/record/groups.h"

#include <atomic>

namespace burn::client {

std::uint32_t next_group_number() {
  static std::atomic<std::uint32_t> last{0};
  return ++last;
}

std::mutex& group_operations() {
  static auto& mutex = *new std::mutex;  // never destroyed: devices may be destroyed after main()
  return mutex;
}

}  // namespace burn::client
