#include "compile/codegen/dialects/cuda_kernel.h"

#include <algorithm>

#include <fmt/format.h>

#include "compile/codegen/dialects/cuda_cpp.h"
#include "compile/codegen/dialects/cuda_expressions.h"

namespace burn::compile {
namespace {

using ir::DType;
using kernel::Code;
using kernel::Instruction;

constexpr const char* kOpening = "#include \"backends/cuda/kernels/instructions.h\"\nnamespace burn::cuda {\n";
constexpr int kBlockKernelThreads = 256;

// Of four elements of 32 bits.
const char* pack_of(DType type) { return type == DType::f32 ? "float4" : type == DType::i32 ? "int4" : "uint4"; }

class CudaPrinter {
 public:
  explicit CudaPrinter(const kernel::Kernel& kernel) : kernel_(kernel) {}

  // Finds the number of its block in `block`.
  std::string body() {
    for (std::size_t k = 0; k < kernel_.shared.size(); ++k)
      line(fmt::format("__shared__ __align__(16) {} s{}[{}];", storage_type(kernel_.shared[k].type), k,
                       kernel_.shared[k].count));
    for (std::size_t i = 0; i < kernel_.body.size(); ++i) put(i);
    return std::move(text_);
  }

  // Of eight bytes each.
  std::vector<BlockKernel::Parameter> parameters() const {
    std::vector<BlockKernel::Parameter> all;
    for (std::size_t k = 0; k < kernel_.parameters.size(); ++k) {
      const auto& parameter = kernel_.parameters[k];
      const auto* type = storage_type(parameter.is_address ? kernel::memory_type(parameter.type) : parameter.type);
      all.push_back({!parameter.is_address ? fmt::format("Number<{}>", type)
                     : is_written(k)       ? fmt::format("{}*", type)
                                           : fmt::format("const {}*", type),
                     fmt::format("p{}", k)});
    }
    return all;
  }

 private:
  bool is_written(std::size_t parameter) const {
    return std::ranges::any_of(kernel_.body, [&](const Instruction& now) {
      const bool writes = now.code == Code::store || now.code == Code::store_wide || now.code == Code::store_pack ||
                          now.code == Code::atomic_add;
      return writes && now.number == parameter;
    });
  }

  const Instruction& made(std::int32_t value) const { return kernel_.body[static_cast<std::size_t>(value)]; }

  // What names a value where it is used.
  std::string name(std::int32_t value) const {
    const auto& of = made(value);
    switch (of.code) {
      case Code::constant:
        return cuda_literal(of.type, of.number);
      case Code::parameter:
        return fmt::format("p{}.value", of.number);
      case Code::thread:
        return cuda_cpp::kThread;
      case Code::block:
        return of.number == 0 ? "block" : cuda_cpp::kBlockRow;
      case Code::blocks:
        return of.number == 0 ? cuda_cpp::kBlocks : "gridDim.y";
      case Code::word:
        return fmt::format("v{}.{}", of.operands[0], "xyzw"[of.number]);
      default:
        return fmt::format("v{}", value);
    }
  }

  void line(std::string_view statement) { text_ += fmt::format("{}{}\n", std::string(2 * depth_, ' '), statement); }
  void define(std::size_t i, std::string_view value) {
    line(fmt::format("const {} v{} = {};", storage_type(kernel_.body[i].type), i, value));
  }

  // --- memory ---

  std::string element(const Instruction& now, char array, std::string_view pointer_to) const {
    const auto at = fmt::format("{}{} + {}", array, now.number, name(now.operands[0]));
    return fmt::format("*reinterpret_cast<{}*>({})", pointer_to, at);
  }
  std::string pair(const Instruction& now) const {
    return fmt::format("make_ulonglong2({}, {})", name(now.operands[1]), name(now.operands[2]));
  }

  bool put_memory(std::size_t i) {
    const auto& now = kernel_.body[i];
    const auto operand = [&](std::size_t k) { return name(now.operands[k]); };
    const auto type = std::string(storage_type(now.type));
    switch (now.code) {
      case Code::load:
        define(i, fmt::format("p{}[{}]", now.number, operand(0)));
        return true;
      case Code::store:
        line(fmt::format("p{}[{}] = {};", now.number, operand(0), operand(1)));
        return true;
      case Code::atomic_add:
        define(i, fmt::format("atomicAdd(p{} + {}, {})", now.number, operand(0), operand(1)));
        return true;
      case Code::load_shared:
        define(i, fmt::format("s{}[{}]", now.number, operand(0)));
        return true;
      case Code::store_shared:
        line(fmt::format("s{}[{}] = {};", now.number, operand(0), operand(1)));
        return true;
      case Code::load_wide:
        define(i, element(now, 'p', "const " + type));
        return true;
      case Code::store_wide:
        line(fmt::format("{} = {};", element(now, 'p', type), operand(1)));
        return true;
      case Code::load_pack:
        line(fmt::format("const auto v{} = {};", i, element(now, 'p', "const uint4")));
        return true;
      case Code::store_pack:
        line(fmt::format("{} = {};", element(now, 'p', "ulonglong2"), pair(now)));
        return true;
      case Code::load_shared_pack:
        line(fmt::format("const auto v{} = {};", i, element(now, 's', fmt::format("const {}", pack_of(now.type)))));
        return true;
      case Code::store_shared_pack:
        line(fmt::format("{} = {};", element(now, 's', "ulonglong2"), pair(now)));
        return true;
      case Code::tile_sums:
        line(fmt::format("TileSums v{};", i));
        return true;
      case Code::tile_load: {
        const auto what = kernel::TileLoad::of(now.number);
        line(fmt::format("const auto v{} = load_tile<{}, {}, {}>(s{} + {}, {});", i, type, what.is_second,
                         what.has_columns_apart, what.array, operand(0), operand(1)));
        return true;
      }
      case Code::tile_multiply:
        line(fmt::format("multiply_tiles({}, {}, {});", operand(0), operand(1), operand(2)));
        return true;
      case Code::tile_store:
        line(fmt::format("store_tile(s{} + {}, {}, {});", now.number, operand(0), operand(1), operand(2)));
        return true;
      default:
        return false;
    }
  }

  // --- control flow ---

  bool put_flow(std::size_t i) {
    const auto& now = kernel_.body[i];
    const auto operand = [&](std::size_t k) { return name(now.operands[k]); };
    switch (now.code) {
      case Code::variable:
        line(fmt::format("{} v{} = {};", storage_type(now.type), i, operand(0)));
        return true;
      case Code::set:
        line(fmt::format("{} = {};", operand(0), operand(1)));
        return true;
      case Code::loop:
        line(fmt::format("for ({0} v{1} = {2}; v{1} < {3}; v{1} += {4}) {{", storage_type(now.type), i, operand(0),
                         operand(1), operand(2)));
        ++depth_;
        return true;
      case Code::break_when:
        line(fmt::format("if ({}) break;", operand(0)));
        return true;
      case Code::when:
        line(fmt::format("if ({}) {{", operand(0)));
        ++depth_;
        return true;
      case Code::otherwise:
        --depth_;
        line("} else {");
        ++depth_;
        return true;
      case Code::end_loop:
      case Code::end_when:
        --depth_;
        line("}");
        return true;
      case Code::barrier:  // orders shared arrays and memory
        line("__syncthreads();");
        return true;
      default:
        return false;
    }
  }

  void put(std::size_t i) {
    const auto& now = kernel_.body[i];
    switch (now.code) {
      case Code::constant:
      case Code::parameter:
      case Code::thread:
      case Code::block:
      case Code::blocks:
      case Code::word:
        return;  // named where they are used
      default:
        if (!put_memory(i) && !put_flow(i))
          define(i, cuda_expression(now, [&](std::size_t k) { return name(now.operands[k]); }));
    }
  }

  const kernel::Kernel& kernel_;
  std::string text_;
  std::size_t depth_ = 1;
};

}  // namespace

KernelSource print_cuda(const kernel::Kernel& kernel) {
  CudaPrinter printer(kernel);
  std::string list;
  for (const auto& [type, name] : printer.parameters())
    list += fmt::format("{}{} const {}", list.empty() ? "" : ", ", type, name);
  return {
      fmt::format("{}extern \"C\" __global__ void __launch_bounds__({}) burn_kernel({}) {{\n"
                  "  const unsigned block = blockIdx.x;\n{}}}\n}}\n",
                  kOpening, kernel.threads, list, printer.body())};
}

std::shared_ptr<const BlockKernel> print_cuda_block(const kernel::Kernel& kernel) {
  const bool asks_for_grid = std::ranges::any_of(kernel.body, [](const Instruction& now) {
    return now.code == Code::blocks || (now.code == Code::block && now.number != 0);
  });
  if (kernel.threads != kBlockKernelThreads || asks_for_grid) return nullptr;
  CudaPrinter printer(kernel);
  return std::make_shared<const BlockKernel>(BlockKernel{kOpening, printer.parameters(), printer.body()});
}

}  // namespace burn::compile
