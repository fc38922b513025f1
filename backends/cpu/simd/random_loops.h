// Converts random bits to numbers.
namespace burn::backends::cpu::BURN_ISA {
namespace {

// As ir::uniform_from_bits<float>; 24 bits fit a signed number, whose conversion is one instruction.
void uniform_floats(const std::uint32_t* bits, float* out) {
  for (int i = 0; i < 4 * kBlocks; ++i) out[i] = static_cast<float>(static_cast<std::int32_t>(bits[i] >> 8)) * 0x1p-24f;
}

}  // namespace
}  // namespace burn::backends::cpu::BURN_ISA
