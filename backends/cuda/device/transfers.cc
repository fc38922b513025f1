#include "backends/cuda/device/transfers.h"

#include <algorithm>

namespace burn::backends::cuda {
namespace {

constexpr std::size_t kPieces = 24, kWords = 64;
constexpr unsigned kThreads = 256;

// The kernel's parameter; the kernel's text below declares the same struct.
struct Batch {
  std::uint64_t to[kPieces], from[kPieces], bytes[kPieces];
  std::uint64_t words[kWords];
  std::uint64_t words_to;
  std::uint32_t piece_count, word_count;
};

}  // namespace

const KernelSource& Transfers::source() {
  static const KernelSource text{
      "typedef unsigned long long u64;\n"
      "struct Batch { u64 to[24], from[24], bytes[24], words[64], words_to; unsigned piece_count, word_count; };\n"
      "extern \"C\" __global__ void __launch_bounds__(256) burn_kernel(const __grid_constant__ Batch batch) {\n"
      "  if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x < batch.word_count)\n"
      "    reinterpret_cast<u64*>(batch.words_to)[threadIdx.x] = batch.words[threadIdx.x];\n"
      "  if (blockIdx.y >= batch.piece_count) return;\n"
      "  const u64 bytes = batch.bytes[blockIdx.y], vectors = bytes / 16;\n"
      "  auto* to = reinterpret_cast<uint4*>(batch.to[blockIdx.y]);\n"
      "  auto* from = reinterpret_cast<uint4*>(batch.from[blockIdx.y] & ~u64{3});\n"
      "  if (batch.from[blockIdx.y] & 2) {\n"
      "    const bool is_first = blockIdx.x == 0 && threadIdx.x == 0;\n"
      "    if (is_first && reinterpret_cast<const u64*>(from)[1] != 0) *reinterpret_cast<u64*>(to) = 0;\n"
      "    return;\n"
      "  }\n"
      "  const bool is_taken = batch.from[blockIdx.y] & 1;\n"
      "  for (u64 i = blockIdx.x * 256 + threadIdx.x; i < vectors; i += gridDim.x * 256) {\n"
      "    to[i] = from ? from[i] : uint4{};\n"
      "    if (is_taken) from[i] = uint4{};\n"
      "  }\n"
      "  const u64 rest = vectors * 16 + threadIdx.x;\n"
      "  if (blockIdx.x == 0 && rest < bytes) {\n"
      "    reinterpret_cast<char*>(to)[rest] = from ? reinterpret_cast<const char*>(from)[rest] : 0;\n"
      "    if (is_taken) reinterpret_cast<char*>(from)[rest] = 0;\n"
      "  }\n"
      "}\n"};
  return text;
}

void Transfers::copy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  if (bytes > 0) pieces_.push_back({to, from, bytes});
}

void Transfers::store(CUdeviceptr to, std::span<const std::uint64_t> words) {
  words_to_ = to;
  words_.assign(words.begin(), words.end());
}

Status Transfers::launch(const Kernel& kernel, CUstream stream) const {
  std::size_t piece = 0, word = 0;
  while (piece < pieces_.size() || word < words_.size()) {
    Batch batch;
    batch.piece_count = static_cast<std::uint32_t>(std::min(kPieces, pieces_.size() - piece));
    batch.word_count = static_cast<std::uint32_t>(std::min(kWords, words_.size() - word));
    std::size_t largest = 0;
    for (std::size_t k = 0; k < batch.piece_count; ++k) {
      const auto& it = pieces_[piece + k];
      batch.to[k] = it.to;
      batch.from[k] = it.from;
      batch.bytes[k] = it.bytes;
      largest = std::max(largest, it.bytes);
    }
    std::copy_n(words_.begin() + static_cast<std::ptrdiff_t>(word), batch.word_count, batch.words);
    batch.words_to = words_to_ + 8 * word;
    piece += batch.piece_count;
    word += batch.word_count;
    // One vector per thread: a batch of a few hundred KiB takes as long as one access.
    constexpr std::size_t kBytesOfBlock = std::size_t{16} * kThreads, kMaxBlocks = 512;
    const auto blocks = static_cast<unsigned>(std::clamp<std::size_t>(largest / kBytesOfBlock, 1, kMaxBlocks));
    void* parameters[] = {&batch};
    BURN_RETURN_IF_ERROR(check(driver().cuLaunchKernel(kernel.function, blocks, std::max(1U, batch.piece_count), 1,
                                                       kThreads, 1, 1, 0, stream, parameters, nullptr),
                               "small copies"));
  }
  return {};
}

}  // namespace burn::backends::cuda
