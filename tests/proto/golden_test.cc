// The bytes of burn.v1 as they were when it was agreed on: tests/golden/burn_v1.txt has a line "name hex" per kind of
// frame. A difference breaks every client and server in the field; new kinds are appended. BURN_UPDATE_GOLDEN=1 writes
// the file anew.
#include <cstdlib>
#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "tests/proto/frames.h"

namespace burn::proto {
namespace {

constexpr const char* kFile = "tests/golden/burn_v1.txt";

std::string to_hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const auto c : bytes) {
    hex += kDigits[static_cast<unsigned char>(c) >> 4];
    hex += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return hex;
}

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string{hex.substr(i, 2)}, nullptr, 16));
  }
  return bytes;
}

std::map<std::string, std::string> read_golden() {
  std::map<std::string, std::string> golden;
  std::ifstream file{kFile};
  for (std::string name, hex; file >> name >> hex;) golden[name] = hex;
  return golden;
}

TEST(Golden, FramesAreWrittenAsAgreed) {
  if (std::getenv("BURN_UPDATE_GOLDEN")) {
    std::ofstream file{kFile};
    for (const auto& [name, frame] : sample_frames()) file << name << ' ' << to_hex(to_string(encode(frame))) << '\n';
  }
  const auto golden = read_golden();
  for (const auto& [name, frame] : sample_frames()) {
    const auto agreed = golden.find(name);
    ASSERT_NE(agreed, golden.end()) << name;
    EXPECT_EQ(to_hex(to_string(encode(frame))), agreed->second) << name;
  }
}

TEST(Golden, FramesAreReadAsAgreed) {
  const auto golden = read_golden();
  EXPECT_EQ(golden.size(), sample_frames().size());
  for (const auto& [name, hex] : golden) {
    const auto frame = decode(shared(from_hex(hex)));
    ASSERT_TRUE(frame.ok()) << name << ": " << frame.status().to_string();
    EXPECT_TRUE(name.starts_with(proto::name(frame->body)));  // "define", "define_forget"
    EXPECT_EQ(to_hex(to_string(encode(*frame))), hex);
  }
}

}  // namespace
}  // namespace burn::proto
