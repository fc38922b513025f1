// Philox for many blocks at a time: the same steps as ir::philox4x32, each over an array of blocks so that they
// vectorise.
namespace burn::backends::cpu::BURN_ISA {
namespace {

// The bits of the 4 * kBlocks elements from block `first` on.
void philox_bits(std::uint64_t seed, std::uint64_t first, std::uint32_t* bits) {
  std::uint32_t c0[kBlocks], c1[kBlocks], c2[kBlocks], c3[kBlocks];
  for (int i = 0; i < kBlocks; ++i) {
    const std::uint64_t block = first + static_cast<std::uint64_t>(i);
    c0[i] = static_cast<std::uint32_t>(block);
    c1[i] = static_cast<std::uint32_t>(block >> 32);
    c2[i] = c3[i] = 0;
  }
  auto key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < kBlocks; ++i) {
      const std::uint64_t a = std::uint64_t{0xD2511F53} * c0[i], b = std::uint64_t{0xCD9E8D57} * c2[i];
      c0[i] = static_cast<std::uint32_t>(b >> 32) ^ c1[i] ^ key0;
      c1[i] = static_cast<std::uint32_t>(b);
      c2[i] = static_cast<std::uint32_t>(a >> 32) ^ c3[i] ^ key1;
      c3[i] = static_cast<std::uint32_t>(a);
    }
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  for (int i = 0; i < kBlocks; ++i) {
    bits[4 * i] = c0[i];
    bits[4 * i + 1] = c1[i];
    bits[4 * i + 2] = c2[i];
    bits[4 * i + 3] = c3[i];
  }
}

// As ir::uniform_from_bits<float>; 24 bits fit a signed number, whose conversion is one instruction.
void uniform_floats(const std::uint32_t* bits, float* out) {
  for (int i = 0; i < 4 * kBlocks; ++i) out[i] = static_cast<float>(static_cast<std::int32_t>(bits[i] >> 8)) * 0x1p-24f;
}

}  // namespace
}  // namespace burn::backends::cpu::BURN_ISA
