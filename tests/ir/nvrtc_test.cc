// What kernels share (ir/semantics/prelude.h, combine.h, convert.h, philox.h) and every formula of pointwise.def,
// compiled as CUDA C++ for the architectures that we generate code for. Compiled only: that needs no GPU.
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nvrtc.h>

#include "ir/ops/pointwise.h"

namespace burn::ir {
namespace {

constexpr const char* kHeaders[] = {"ir/semantics/device.h", "ir/semantics/prelude.h", "ir/semantics/combine.h",
                                    "ir/semantics/convert.h", "ir/semantics/philox.h"};

std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream{path}.rdbuf();
  return text.str();
}

// The compiler's messages; empty if it has none.
std::string compile(const std::string& body, const std::string& architecture) {
  std::string source;
  std::vector<std::string> texts;
  for (const auto* header : kHeaders) {
    source += fmt::format("#include \"{}\"\n", header);
    texts.push_back(read_file(header));
  }
  source += body;
  std::vector<const char*> contents;
  for (const auto& text : texts) contents.push_back(text.c_str());

  nvrtcProgram program = nullptr;
  if (const auto made = nvrtcCreateProgram(&program, source.c_str(), "kernel.cu", static_cast<int>(contents.size()),
                                           contents.data(), kHeaders);
      made != NVRTC_SUCCESS) {
    return nvrtcGetErrorString(made);
  }
  const std::string target = "--gpu-architecture=" + architecture;
  const char* options[] = {"--std=c++20", target.c_str(), "--device-as-default-execution-space",
                           "--diag-suppress=186"};  // of unsigned numbers, b < 0 is known
  const auto status = nvrtcCompileProgram(program, static_cast<int>(std::size(options)), options);
  std::size_t size = 0;
  EXPECT_EQ(nvrtcGetProgramLogSize(program, &size), NVRTC_SUCCESS);
  std::string log(size, '\0');
  EXPECT_EQ(nvrtcGetProgramLog(program, log.data()), NVRTC_SUCCESS);
  EXPECT_EQ(nvrtcDestroyProgram(&program), NVRTC_SUCCESS);
  while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
  return status == NVRTC_SUCCESS || !log.empty() ? log : nvrtcGetErrorString(status);
}

std::vector<std::string> types_of(PointwiseClass kind) {
  const std::vector<std::string> floats{"float", "double"};
  const std::vector<std::string> integers{"signed char", "unsigned char", "short",     "unsigned short",
                                          "int",         "unsigned int",  "long long", "unsigned long long"};
  switch (kind) {
    case PointwiseClass::floating:
    case PointwiseClass::test:
      return floats;
    case PointwiseClass::integral:
      return integers;
    case PointwiseClass::logical:
      return {"bool"};
    default:
      break;
  }
  auto all = floats;
  all.insert(all.end(), integers.begin(), integers.end());
  return all;
}

// A kernel per type that applies the row's formula.
std::string kernels_of(const PointwiseRow& row) {
  const bool is_bool = row.kind == PointwiseClass::compare || row.kind == PointwiseClass::test;
  const bool chooses = row.kind == PointwiseClass::choose;
  std::string text = "namespace burn::ir::prelude {\n";
  int number = 0;
  for (const auto& type : types_of(row.kind)) {
    const std::string first = row.arity == 1 ? "x" : "a", result = is_bool ? "bool" : type;
    text += fmt::format("extern \"C\" __global__ void {}_{}({}* y, const {}* p, const {}* q, const {}* r) {{\n",
                        row.name, number++, result, chooses ? "bool" : type, type, type);
    text += fmt::format("  const auto {} = *p; const auto b = *q; const auto c = *r; (void)b; (void)c;\n", first);
    text += fmt::format("  *y = static_cast<{}>({});\n}}\n", result, row.value);
  }
  return text + "}\n";
}

class Nvrtc : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, Nvrtc, testing::Values("sm_80", "sm_90"), [](const auto& info) { return info.param; });

TEST_P(Nvrtc, CompilesEveryFormula) {
  std::string all;
  for (int i = 0; i < pointwise_count(); ++i) all += kernels_of(row(static_cast<PointwiseFn>(i)));
  const auto complaints = compile(all, GetParam());
  EXPECT_EQ(complaints, "");
}

TEST_P(Nvrtc, CompilesReductionsConversionsAndRandomNumbers) {
  std::string text = "using namespace burn::ir;\n";
  int number = 0;
  for (const auto& type : types_of(PointwiseClass::numeric)) {
    text += fmt::format("extern \"C\" __global__ void reduce_{}({}* y) {{\n", number, type);
    for (const auto* way : {"Sum", "Prod", "Max", "Min"}) {
      text += fmt::format("  y[0] = {0}::combine({0}::identity<{1}>(), y[1]);\n", way, type);
    }
    text += "}\n";
    for (const auto& from : types_of(PointwiseClass::numeric)) {
      text += fmt::format(
          "extern \"C\" __global__ void convert_{}({}* y, const {}* x) {{ *y = convert_number<{}>(*x); }}\n", ++number,
          type, from, type);
    }
    ++number;
  }
  text +=
      "extern \"C\" __global__ void draw(float* f, double* d, unsigned long long* u) {\n"
      "  f[0] = uniform_block<float>(1, 2)[0] + normal_block<float>(1, 2)[3];\n"
      "  d[0] = uniform_block<double>(1, 2)[0] + normal_block<double>(1, 2)[3];\n"
      "  u[0] = bits_block(1, 2)[1];\n}\n";
  EXPECT_EQ(compile(text, GetParam()), "");
}

TEST(NvrtcCompiler, ComplainsOfWhatIsWrong) {
  EXPECT_NE(compile("extern \"C\" __global__ void k() { no_such_function(); }", "sm_90"), "");
}

}  // namespace
}  // namespace burn::ir
