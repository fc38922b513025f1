// The ring by itself: two ends of one mapping, which is what the thread sanitizer can watch.
#include "net/transport/shared_ring.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <semaphore>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace burn::net {
namespace {

struct Ring {
  explicit Ring(std::size_t size) : bytes(size), writer(control, bytes), reader(control, bytes) {}

  // What was put and can be read again at once.
  void put(std::string_view text) {
    ASSERT_GE(writer.space(), text.size());
    writer.put(std::as_bytes(std::span{text}));
    (void)writer.publish();
  }
  std::string get(std::size_t count) {
    std::string text(count, '?');
    EXPECT_GE(reader.available(), count);
    reader.get(std::as_writable_bytes(std::span{text}));
    (void)reader.release();
    return text;
  }

  RingControl control{};
  std::vector<std::byte> bytes;
  RingWriter writer;
  RingReader reader;
};

TEST(SharedRing, GivesBackWhatItTookAcrossItsEnd) {
  Ring ring(16);
  EXPECT_EQ(ring.writer.space(), 16u);
  EXPECT_EQ(ring.reader.available(), 0u);
  for (int i = 0; i < 100; ++i) {
    const std::string text = "message " + std::to_string(i);
    ring.put(text);
    EXPECT_EQ(ring.reader.available(), text.size());
    EXPECT_EQ(ring.writer.space(), 16 - text.size());
    EXPECT_EQ(ring.get(4), text.substr(0, 4));
    EXPECT_EQ(ring.get(text.size() - 4), text.substr(4));
  }
}

TEST(SharedRing, ShowsNothingBeforeItIsPublishedAndReusesNothingBeforeItIsReleased) {
  Ring ring(16);
  ring.writer.put(std::as_bytes(std::span{"0123456789abcdef"}.first(16)));
  EXPECT_EQ(ring.reader.available(), 0u);
  EXPECT_EQ(ring.writer.space(), 0u);
  (void)ring.writer.publish();
  EXPECT_EQ(ring.reader.available(), 16u);
  std::array<std::byte, 16> got;
  ring.reader.get(got);
  EXPECT_EQ(ring.writer.space(), 0u);
  EXPECT_EQ(ring.reader.unreleased(), 16u);
  (void)ring.reader.release();
  EXPECT_EQ(ring.writer.space(), 16u);
}

TEST(SharedRing, TheWriterIsToldOnceThatTheReaderSleeps) {
  Ring ring(16);
  EXPECT_TRUE(ring.reader.go_to_sleep());
  ring.writer.put(std::as_bytes(std::span{"a"}.first(1)));
  EXPECT_TRUE(ring.writer.publish());
  ring.writer.put(std::as_bytes(std::span{"b"}.first(1)));
  EXPECT_FALSE(ring.writer.publish());
  EXPECT_FALSE(ring.reader.go_to_sleep()) << "there is something to read";
  EXPECT_EQ(ring.get(2), "ab");
  ring.put("c");
  EXPECT_EQ(ring.get(1), "c");
}

TEST(SharedRing, TheReaderIsToldThatTheWriterSleepsOnceThereIsRoomWorthWakingItFor) {
  Ring ring(16);
  EXPECT_FALSE(ring.writer.go_to_sleep()) << "there is room";
  ring.put("0123456789abcdef");
  EXPECT_TRUE(ring.writer.go_to_sleep());
  std::array<std::byte, 7> some;
  (void)ring.reader.available();
  ring.reader.get(some);
  EXPECT_FALSE(ring.reader.release());
  ring.reader.get(std::span{some}.first(1));
  EXPECT_TRUE(ring.reader.release());
  ring.reader.get(std::span{some}.first(1));
  EXPECT_FALSE(ring.reader.release()) << "it was told already";
}

TEST(SharedRing, EndsBehindTheLastByte) {
  Ring ring(16);
  ring.put("bye");
  EXPECT_FALSE(ring.writer.close());
  EXPECT_FALSE(ring.reader.is_at_end());
  EXPECT_EQ(ring.get(3), "bye");
  EXPECT_TRUE(ring.reader.is_at_end());
  EXPECT_FALSE(ring.reader.go_to_sleep()) << "the closed writer would not wake it";

  Ring other(16);
  EXPECT_TRUE(other.reader.go_to_sleep());
  EXPECT_TRUE(other.writer.close()) << "a sleeping reader is to be told";
}

TEST(SharedRing, AReadersIndexThatCannotBeBreaksTheWriterForGood) {
  for (const std::uint64_t nonsense : {std::uint64_t{2}, std::uint64_t{6}, ~std::uint64_t{0}}) {
    Ring ring(16);
    ring.put("12345");
    EXPECT_EQ(ring.get(3), "123");
    EXPECT_EQ(ring.writer.space(), 14u);
    ring.control.read = nonsense;  // behind where it was, and ahead of what is written
    EXPECT_EQ(ring.writer.space(), 0u);
    EXPECT_TRUE(ring.writer.is_broken());
    EXPECT_FALSE(ring.writer.go_to_sleep());
    ring.control.read = 3;
    EXPECT_EQ(ring.writer.space(), 0u);
  }
}

TEST(SharedRing, AWritersIndexThatCannotBeBreaksTheReaderForGood) {
  for (const std::uint64_t nonsense : {std::uint64_t{4}, std::uint64_t{20}, ~std::uint64_t{0}}) {
    Ring ring(16);
    ring.put("12345");
    EXPECT_EQ(ring.get(3), "123");
    ring.control.written = nonsense;  // behind where it was, and more than the ring holds
    EXPECT_EQ(ring.reader.available(), 0u);
    EXPECT_TRUE(ring.reader.is_broken());
    EXPECT_FALSE(ring.reader.go_to_sleep());
    ring.control.written = 5;
    EXPECT_EQ(ring.reader.available(), 0u);
  }
}

// Both ends go to sleep whenever they may, so a wake-up that is lost is a test that hangs.
class SleepyEnds {
 public:
  explicit SleepyEnds(std::size_t size) : ring_(size) {}

  void write(std::span<const std::byte> from) {
    while (!from.empty()) {
      const std::size_t count = std::min(ring_.writer.space(), from.size());
      ring_.writer.put(from.first(count));
      from = from.subspan(count);
      if (ring_.writer.publish()) wake_reader_.release();
      if (!from.empty() && ring_.writer.go_to_sleep()) wake_writer_.acquire();
    }
  }
  void close() {
    if (ring_.writer.close()) wake_reader_.release();
  }
  // Some bytes; none at the end.
  std::size_t read(std::span<std::byte> to) {
    for (;;) {
      const std::size_t count = std::min(ring_.reader.available(), to.size());
      if (count > 0) {
        ring_.reader.get(to.first(count));
        if (ring_.reader.release()) wake_writer_.release();
        return count;
      }
      if (ring_.reader.is_at_end()) return 0;
      if (ring_.reader.go_to_sleep()) wake_reader_.acquire();
    }
  }

 private:
  Ring ring_;
  std::counting_semaphore<> wake_reader_{0}, wake_writer_{0};
};

void stream(std::size_t ring_bytes, std::size_t most_at_once, std::size_t total) {
  SleepyEnds ends(ring_bytes);
  std::thread writer([&] {
    std::mt19937 random{1};
    std::vector<std::byte> block(most_at_once);
    for (std::size_t at = 0; at < total;) {
      const std::size_t count = std::min<std::size_t>(1 + random() % most_at_once, total - at);
      for (std::size_t i = 0; i < count; ++i) block[i] = static_cast<std::byte>((at + i) % 251);
      ends.write(std::span{block}.first(count));
      at += count;
    }
    ends.close();
  });
  std::mt19937 random{2};
  std::vector<std::byte> block(most_at_once);
  std::size_t at = 0, wrong = 0;
  while (const std::size_t count = ends.read(std::span{block}.first(1 + random() % most_at_once))) {
    for (std::size_t i = 0; i < count; ++i) wrong += block[i] != static_cast<std::byte>((at + i) % 251);
    at += count;
  }
  writer.join();
  EXPECT_EQ(at, total);
  EXPECT_EQ(wrong, 0u);
}

TEST(SharedRing, StreamsBetweenTwoThreadsInPiecesOfAnySize) { stream(1 << 12, 10'000, 20 << 20); }

TEST(SharedRing, LosesNoWakeUpAmongTinyMessages) { stream(8, 3, 300'000); }

TEST(SharedRing, LosesNoWakeUpInPingPong) {
  SleepyEnds there(64), back(64);
  constexpr int kRounds = 30'000;
  std::thread peer([&] {
    std::array<std::byte, 8> message;
    for (int i = 0; i < kRounds; ++i) {
      for (std::size_t got = 0; got < message.size();) got += there.read(std::span{message}.subspan(got));
      back.write(message);
    }
  });
  int wrong = 0;
  for (std::uint64_t i = 0; i < kRounds; ++i) {
    there.write(std::as_bytes(std::span{&i, 1}));
    std::uint64_t answer = 0;
    const auto bytes = std::as_writable_bytes(std::span{&answer, 1});
    for (std::size_t got = 0; got < bytes.size();) got += back.read(bytes.subspan(got));
    wrong += answer != i;
  }
  peer.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace burn::net
