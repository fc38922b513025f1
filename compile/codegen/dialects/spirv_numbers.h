// The numbers of SPIR-V 1.6 that the printer uses, by the names that its specification gives them.
#pragma once

#include <cstdint>

namespace burn::compile::spirv {

enum class Op : std::uint16_t {
  Extension = 10,
  ExtInstImport = 11,
  ExtInst = 12,
  MemoryModel = 14,
  EntryPoint = 15,
  ExecutionMode = 16,
  Capability = 17,
  TypeVoid = 19,
  TypeBool = 20,
  TypeInt = 21,
  TypeFloat = 22,
  TypeVector = 23,
  TypeArray = 28,
  TypeRuntimeArray = 29,
  TypeStruct = 30,
  TypePointer = 32,
  TypeFunction = 33,
  ConstantTrue = 41,
  ConstantFalse = 42,
  Constant = 43,
  ConstantComposite = 44,
  Function = 54,
  FunctionEnd = 56,
  Variable = 59,
  Load = 61,
  Store = 62,
  AccessChain = 65,
  Decorate = 71,
  MemberDecorate = 72,
  CompositeConstruct = 80,
  CompositeExtract = 81,
  ConvertFToU = 109,
  ConvertFToS = 110,
  ConvertSToF = 111,
  ConvertUToF = 112,
  UConvert = 113,
  SConvert = 114,
  FConvert = 115,
  ConvertUToPtr = 120,
  Bitcast = 124,
  SNegate = 126,
  FNegate = 127,
  IAdd = 128,
  FAdd = 129,
  ISub = 130,
  FSub = 131,
  IMul = 132,
  FMul = 133,
  UDiv = 134,
  SDiv = 135,
  FDiv = 136,
  UMod = 137,
  LogicalEqual = 164,
  LogicalNotEqual = 165,
  LogicalOr = 166,
  LogicalAnd = 167,
  LogicalNot = 168,
  Select = 169,
  IEqual = 170,
  INotEqual = 171,
  ULessThan = 176,
  SLessThan = 177,
  ULessThanEqual = 178,
  SLessThanEqual = 179,
  FOrdEqual = 180,
  FUnordNotEqual = 183,
  FOrdLessThan = 184,
  FOrdLessThanEqual = 188,
  ShiftRightLogical = 194,
  ShiftRightArithmetic = 195,
  ShiftLeftLogical = 196,
  BitwiseOr = 197,
  BitwiseXor = 198,
  BitwiseAnd = 199,
  Not = 200,
  ControlBarrier = 224,
  AtomicIAdd = 234,
  AtomicAnd = 240,
  AtomicOr = 241,
  Phi = 245,
  LoopMerge = 246,
  SelectionMerge = 247,
  Label = 248,
  Branch = 249,
  BranchConditional = 250,
  Return = 253,
  GroupNonUniformBroadcast = 337,
  GroupNonUniformShuffleXor = 346,
  // Of SPV_KHR_cooperative_matrix.
  TypeCooperativeMatrix = 4456,
  CooperativeMatrixLoad = 4457,
  CooperativeMatrixStore = 4458,
  CooperativeMatrixMulAdd = 4459,
};

enum class Capability : std::uint32_t {
  Shader = 1,
  Float16 = 9,
  Float64 = 10,
  Int64 = 11,
  Int16 = 22,
  Int8 = 39,
  GroupNonUniform = 61,
  GroupNonUniformBallot = 64,
  GroupNonUniformShuffle = 65,
  StorageBuffer16BitAccess = 4433,
  StorageBuffer8BitAccess = 4448,
  SignedZeroInfNanPreserve = 4466,
  VulkanMemoryModel = 5345,
  BFloat16Type = 5116,               // of SPV_KHR_bfloat16
  BFloat16CooperativeMatrix = 5118,  // of it, too
  PhysicalStorageBufferAddresses = 5347,
  CooperativeMatrix = 6022,  // of SPV_KHR_cooperative_matrix
};

enum class StorageClass : std::uint32_t {
  Input = 1,
  Workgroup = 4,
  Function = 7,
  PushConstant = 9,
  PhysicalStorageBuffer = 5349,
};

enum class Decoration : std::uint32_t { Block = 2, ArrayStride = 6, BuiltIn = 11, Offset = 35, NoContraction = 42 };

enum class BuiltIn : std::uint32_t { NumWorkgroups = 24, WorkgroupId = 26, LocalInvocationIndex = 29 };

// Of GLSL.std.450.
enum class Function : std::uint32_t {
  RoundEven = 2,
  Trunc = 3,
  FAbs = 4,
  Floor = 8,
  Ceil = 9,
  Exp2 = 29,
  Sqrt = 31,
  Fma = 50
};

inline constexpr std::uint32_t kMagic = 0x07230203, kVersion = 0x00010600;
inline constexpr std::uint32_t kPhysicalStorageBuffer64 = 5348, kVulkanModel = 3;
inline constexpr std::uint32_t kGLCompute = 5, kLocalSize = 17, kPreserveMode = 4461;  // SignedZeroInfNanPreserve
inline constexpr std::uint32_t kAligned = 2, kNonPrivate = 0x20;                       // memory operands
inline constexpr std::uint32_t kScopeWorkgroup = 2, kScopeSubgroup = 3, kScopeQueueFamily = 5;
// AcquireRelease, WorkgroupMemory, MakeAvailable, MakeVisible.
inline constexpr std::uint32_t kBarrierSemantics = 0x8 | 0x100 | 0x2000 | 0x4000;
inline constexpr std::uint32_t kStorageMemory = 0x40;  // UniformMemory: of buffers, addresses included

// Of cooperative matrices.
inline constexpr std::uint32_t kMatrixA = 0, kMatrixB = 1, kMatrixAccumulator = 2;
inline constexpr std::uint32_t kRowMajor = 0, kColumnMajor = 1;
inline constexpr std::uint32_t kBFloat16 = 0;  // an encoding of OpTypeFloat

}  // namespace burn::compile::spirv
