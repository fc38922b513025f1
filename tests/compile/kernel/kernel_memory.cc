#include <algorithm>

#include "tests/compile/kernel/interpreter.h"
#include "tests/compile/kernel/scalars.h"

namespace burn::testing {

void KernelMemory::add(const void* begin, std::size_t bytes, bool may_race) {
  regions_[reinterpret_cast<std::uint64_t>(begin)] = {bytes, may_race};
}

void KernelMemory::check_word(std::uint64_t address) const {
  constexpr std::uint64_t kBytes = 4;
  if (address % kBytes != 0) fail("an address that is not aligned to its word");
  const auto region = regions_.lower_bound(address + kBytes);  // the first behind the word
  if (region == regions_.begin()) fail("memory that is not the kernel's");
  const auto& [begin, last] = *std::prev(region);
  if (address >= begin + last.bytes) fail("memory that is not the kernel's");
}

void KernelMemory::check(std::uint64_t address, std::size_t bytes, const ThreadPlace& thread, bool is_write,
                         bool is_atomic) {
  auto region = regions_.upper_bound(address);
  if (region == regions_.begin()) fail("memory that is not the kernel's");
  --region;
  if (address + bytes > region->first + region->second.bytes) fail("memory that is not the kernel's");
  if (address % bytes != 0) fail("an address that is not aligned to its element");
  if (region->second.may_race) return;
  auto& touched = touched_[address];
  const auto is_race = [&](const std::vector<ThreadPlace>& others) {
    return std::ranges::any_of(others, [&](const ThreadPlace& other) { return !other.is_ordered(thread); });
  };
  if (!(is_atomic && touched.is_atomic) && (is_race(touched.writers) || (is_write && is_race(touched.readers))))
    fail("a race: threads read and write one element of memory");
  constexpr std::size_t kMaxThreads = 4;
  auto& list = is_write ? touched.writers : touched.readers;
  if (is_write && !is_atomic) touched.writers.clear(), touched.readers.clear();
  if (list.size() < kMaxThreads && std::ranges::find(list, thread) == list.end()) list.push_back(thread);
  touched.is_atomic = is_atomic;
}

}  // namespace burn::testing
