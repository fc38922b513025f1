// A peer that writes whatever it likes into the control block of a ring, between any two calls: an end says that it is
// broken or goes on, and never touches a byte outside the ring. The input is read as a list of steps.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

#include "net/transport/shared_ring.h"

using namespace burn::net;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kBytes = 64;
  RingControl control{};
  const auto bytes = std::make_unique<std::byte[]>(kBytes);  // on the heap, where the address sanitizer looks
  RingWriter writer(control, {bytes.get(), kBytes});
  RingReader reader(control, {bytes.get(), kBytes});
  std::array<std::byte, kBytes> block{};
  std::size_t at = 0;
  const auto byte = [&] { return at < size ? data[at++] : std::uint8_t{0}; };
  const auto number = [&](std::uint64_t near) {  // close to what it should be, or anything
    const auto first = byte();
    if (first < 200) return near + first % 80 - 40;
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | byte();
    return value;
  };
  while (at < size) {
    const std::size_t count = byte() % (kBytes + 1);
    switch (byte() % 10) {
      case 0:
        control.written = number(control.written);
        break;
      case 1:
        control.read = number(control.read);
        break;
      case 2:
        control.closed = byte();
        break;
      case 3:
        control.reader_sleeps = byte();
        break;
      case 4:
        control.writer_sleeps = byte();
        break;
      case 5:
      case 6: {
        const std::size_t space = writer.space();
        if (space > kBytes || (writer.is_broken() && space > 0)) std::abort();
        writer.put(std::span{block}.first(std::min(space, count)));
        (void)writer.publish();
        break;
      }
      case 7:
      case 8: {
        const std::size_t available = reader.available();
        if (available > kBytes || (reader.is_broken() && available > 0)) std::abort();
        reader.get(std::span{block}.first(std::min(available, count)));
        (void)reader.release();
        break;
      }
      default:
        if (writer.go_to_sleep() && writer.is_broken()) std::abort();
        if (reader.go_to_sleep() && reader.is_broken()) std::abort();
        if (count == 0) (void)writer.close();
        (void)reader.is_at_end();
    }
  }
  return 0;
}
