#include "compile/codegen/dialects/cuda_cpp.h"

namespace burn::compile {

const char* storage_type(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::f64:
      return "double";
    case ir::DType::f32:
      return "float";
    case ir::DType::f16:
      return "half_t";
    case ir::DType::bf16:
      return "bfloat16_t";
    case ir::DType::i64:
      return "std::int64_t";
    case ir::DType::i32:
      return "std::int32_t";
    case ir::DType::i16:
      return "std::int16_t";
    case ir::DType::i8:
      return "std::int8_t";
    case ir::DType::u64:
      return "std::uint64_t";
    case ir::DType::u32:
      return "std::uint32_t";
    case ir::DType::u16:
      return "std::uint16_t";
    case ir::DType::u8:
      return "std::uint8_t";
    case ir::DType::bool_:
      break;
  }
  return "bool";
}

const char* compute_type(ir::DType dtype) { return storage_type(ir::compute_dtype(dtype)); }

}  // namespace burn::compile
