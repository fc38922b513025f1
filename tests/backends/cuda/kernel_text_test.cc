// The text of generated kernels is what it was: a worker's cache on disk finds kernels by their text, and a change of
// wording that was not meant would have every one compiled again. BURN_UPDATE_GOLDEN=1 writes
// tests/golden/cuda_kernels.txt anew, where a change is meant.
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backends/cuda/device/libraries.h"
#include "ir/catalogue.h"
#include "tests/backends/cuda/lowered.h"
#include "tests/backends/random_program.h"
#include "tests/ops/samples.h"

namespace burn::testing {
namespace {

constexpr const char* kFile = "tests/golden/cuda_kernels.txt";

// Per entry: the number of different kernels and a hash over their texts in alphabetical order.
using Hashes = std::map<std::string, std::string>;

std::string hash_of(const std::set<std::string>& texts) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const auto& text : texts) {
    for (const unsigned char c : text) hash = (hash ^ c) * 0x100000001b3;
  }
  return fmt::format("{} {:016x}", texts.size(), hash);
}

void add_kernels(std::set<std::string>& texts, cuda::Device& device, const ir::Program& program) {
  for (const bool fusion : {true, false}) {
    // Ops that want a library's advice cannot be lowered without one.
    if (const auto lowered = lower(device, program, fusion, 4096); lowered.ok()) {
      for (const auto& source : lowered->sources) texts.insert(source.text);
    }
  }
}

Hashes hashes_of_all() {
  const auto device = cuda::Device::for_compiling("sm_90");
  Hashes hashes;
  for (const auto& entry : ir::catalogue()) {
    std::set<std::string> texts;
    for (const auto& sample : samples(entry.name)) add_kernels(texts, *device, sample.program);
    hashes[std::string(entry.name)] = hash_of(texts);
  }
  for (std::uint32_t seed = 0; seed < 64; ++seed) {
    std::set<std::string> texts;
    add_kernels(texts, *device, random_program(seed).program);
    hashes[fmt::format("random_program_{}", seed)] = hash_of(texts);
  }
  return hashes;
}

Hashes read_file() {
  Hashes hashes;
  std::ifstream file(kFile);
  std::string line;
  while (std::getline(file, line)) {
    const auto space = line.find(' ');
    if (space != std::string::npos) hashes[line.substr(0, space)] = line.substr(space + 1);
  }
  return hashes;
}

TEST(CudaKernelText, OfEveryOpIsTheGoldenOne) {
  const auto now = hashes_of_all();
  if (std::getenv("BURN_UPDATE_GOLDEN")) {
    std::ofstream file(kFile);
    for (const auto& [name, hash] : now) file << name << ' ' << hash << '\n';
    GTEST_SKIP() << kFile << " is written";
  }
  EXPECT_EQ(now, read_file());
}

}  // namespace
}  // namespace burn::testing
