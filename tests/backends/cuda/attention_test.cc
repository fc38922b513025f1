// Attention as graphs of cuDNN, as far as no GPU is needed: what is refused, and, where the library is installed, that
// its graphs are in order and have engines.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

#include "backends/cuda/libraries/cudnn_attention.h"
#include "compile/lower/layouts.h"
#include "ir/program.h"

namespace burn::testing {
namespace {

namespace cuda = backends::cuda;
using cuda::AttentionForm;
using cuda::AttentionProblem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kVersion = 91900;

AttentionProblem problem(bool is_grad, bool causal, std::int64_t n, std::int64_t m, std::int64_t d, std::int64_t e) {
  AttentionProblem p;
  p.is_grad = is_grad;
  p.causal = causal;
  p.batch = 2, p.heads = 3, p.n = n, p.m = m, p.d = d, p.e = e;
  p.scale = 0.125;
  p.set_row_major();
  return p;
}

Status refusal(const AttentionProblem& p, int version = kVersion, const std::string& architecture = "sm_90") {
  return cuda::check_attention(p, version, architecture);
}

TEST(CudnnAttention, TakesHalvesOfUsualSizes) {
  for (const bool is_grad : {false, true}) {
    for (const auto dtype : {ir::DType::f16, ir::DType::bf16}) {
      auto p = problem(is_grad, true, 1024, 1024, 64, 64);
      p.dtype = dtype;
      EXPECT_EQ(refusal(p), Status{});
      EXPECT_EQ(refusal(p, kVersion, "sm_80"), Status{});
    }
    EXPECT_EQ(refusal(problem(is_grad, false, 100, 67, 8, 128)), Status{});
    EXPECT_EQ(refusal(problem(is_grad, true, 100, 167, 40, 24)), Status{});
  }
}

TEST(CudnnAttention, RefusesWhatItIsNotSureOf) {
  for (const bool is_grad : {false, true}) {
    for (const auto dtype : {ir::DType::f32, ir::DType::f64}) {
      auto p = problem(is_grad, false, 128, 128, 64, 64);
      p.dtype = dtype;
      EXPECT_THAT(refusal(p).message(), HasSubstr("f16 and bf16"));
    }
    EXPECT_THAT(refusal(problem(is_grad, false, 128, 128, 20, 64)).message(), HasSubstr("head dims"));
    EXPECT_THAT(refusal(problem(is_grad, false, 128, 128, 64, 264)).message(), HasSubstr("up to 256"));
    EXPECT_THAT(refusal(problem(is_grad, false, 128, 128, 64, 136), 91200).message(), HasSubstr("up to 128"));
    EXPECT_THAT(refusal(problem(is_grad, false, 128, 128, 0, 64)).message(), HasSubstr("head dims"));
    EXPECT_THAT(refusal(problem(is_grad, false, 1, 128, 64, 64)).message(), HasSubstr("few queries"));
    EXPECT_THAT(refusal(problem(is_grad, false, 128, 0, 64, 64)).message(), HasSubstr("few queries"));
    EXPECT_THAT(refusal(problem(is_grad, true, 128, 127, 64, 64)).message(), HasSubstr("see nothing"));
    auto nothing = problem(is_grad, false, 128, 128, 64, 64);
    nothing.batch = 0;
    EXPECT_THAT(refusal(nothing).message(), HasSubstr("nothing to attend"));
    auto scaled = problem(is_grad, false, 128, 128, 64, 64);
    scaled.scale = -1;
    EXPECT_THAT(refusal(scaled).message(), HasSubstr("positive"));
    EXPECT_THAT(refusal(problem(is_grad, false, 128, 128, 64, 64), 90100).message(), HasSubstr("older than"));
  }
}

TEST(CudnnAttention, RefusesGradientsThatDifferFromRunToRun) {
  const auto p = problem(true, false, 128, 128, 64, 64);
  EXPECT_THAT(refusal(p, kVersion, "sm_100").message(), HasSubstr("sm_100"));
  EXPECT_THAT(refusal(problem(true, false, 128, 130, 64, 64), 91400).message(), HasSubstr("these lengths"));
  EXPECT_EQ(refusal(problem(false, false, 128, 130, 64, 64), 91400, "sm_100"), Status{});
  auto any = p;
  any.any_order = true;
  EXPECT_EQ(refusal(any, kVersion, "sm_100"), Status{});
  EXPECT_NE(to_string(p), to_string(any));
}

TEST(CudnnAttention, ReadsWholeVectorsOnly) {
  const cuda::DnnDims sizes{2, 3, 100, 64};
  EXPECT_TRUE(cuda::is_engine_readable(sizes, cuda::row_major(sizes), 0));
  EXPECT_TRUE(cuda::is_engine_readable(sizes, {19200, 64, 192, 1}, 64));     // split heads
  EXPECT_TRUE(cuda::is_engine_readable(sizes, {57600, 64, 576, 1}, 384));    // a part of three
  EXPECT_FALSE(cuda::is_engine_readable(sizes, cuda::row_major(sizes), 8));  // an address between vectors
  EXPECT_FALSE(cuda::is_engine_readable(sizes, {19200, 6400, 1, 100}, 0));   // columns apart
  EXPECT_FALSE(cuda::is_engine_readable(sizes, {0, 6400, 64, 1}, 0));        // repeated
  EXPECT_FALSE(cuda::is_engine_readable(sizes, {19800, 6600, 66, 1}, 0));    // rows between vectors
  EXPECT_FALSE(cuda::is_engine_readable(sizes, {19200, 6400, -64, 1}, 0));   // backwards
  EXPECT_FALSE(cuda::is_engine_readable(sizes, {19200, 6400, 32, 1}, 0));    // rows that overlap
  EXPECT_TRUE(cuda::is_engine_readable({1, 1, 100, 64}, {5, 7, 64, 1}, 0));  // strides of single ones do not matter
}

TEST(CudnnAttention, IsKeptByAllThatMakesItDiffer) {
  const auto p = problem(false, false, 128, 128, 64, 64);
  auto other = p;
  EXPECT_EQ(to_string(p), to_string(other));
  other.scale = 0.25;
  EXPECT_NE(to_string(p), to_string(other));
  other = p;
  other.k[2] = 192;
  EXPECT_NE(to_string(p), to_string(other));
  EXPECT_NE(to_string(p), to_string(problem(false, true, 128, 128, 64, 64)));
  EXPECT_NE(to_string(p), to_string(problem(true, false, 128, 128, 64, 64)));
}

TEST(CudnnAttention, TakesGradientsInPartsThatKeepFewerScores) {
  auto p = problem(true, false, 1024, 1024, 64, 64);
  p.batch = 16, p.heads = 12;
  constexpr std::size_t kHead = std::size_t{2} << 20;
  const auto sizes = [&](std::size_t heads) {
    const auto part = cuda::bounded_part(p, heads * kHead);
    return std::pair{part.batch, part.heads};
  };
  EXPECT_EQ(sizes(192), std::pair(16L, 12L));
  EXPECT_EQ(sizes(191), std::pair(8L, 12L));
  EXPECT_EQ(sizes(12), std::pair(1L, 12L));
  EXPECT_EQ(sizes(11), std::pair(1L, 6L));
  EXPECT_EQ(sizes(1), std::pair(1L, 1L));
  EXPECT_EQ(sizes(0), std::pair(1L, 1L));  // as few as can be
  p.n = 1023;                              // statistics of four heads end on a whole vector
  EXPECT_EQ(sizes(1), std::pair(1L, 4L));
  p.any_order = true;
  EXPECT_EQ(sizes(1), std::pair(16L, 12L));
  p.is_grad = p.any_order = false;
  EXPECT_EQ(sizes(1), std::pair(16L, 12L));
}

// An H100 as the library would describe it.
constexpr std::string_view kH100 =
    R"({"deviceVer":900,"multiProcessorCount":132,"warpSize":32,"maxSharedMemoryPerBlock":49152,)"
    R"("maxSharedMemoryPerBlockOptin":232448,"reservedSharedMemoryPerBlock":1024,"maxRegistersPerSM":65536,)"
    R"("maxCtasPerSM":32,"maxThreadsPerBlock":1024,"maxThreadsPerSM":2048,"regsPerBlock":65536,)"
    R"("totalGlobalMem":85000000000,"smClockRateKHz":1980000,"l2CacheSize":52428800,"maxBlockSize":[1024,1024,64],)"
    R"("memClockRateKHz":2619000,"maxGridSize":[2147483647,65535,65535],"supportCoopLaunch":1,"pciDeviceId":0,)"
    R"("isTccDriver":0,"cudaDeviceId":0,"driverVer":13000,"deviceName":"NVIDIA H100"})";

// cuDNN keeps what its engines were made of in parts of itself that it unloads: a report could not name the source of
// those leaks.
#if defined(__SANITIZE_ADDRESS__)
using LeaksOfOthers = __lsan::ScopedDisabler;
#else
struct LeaksOfOthers {};
#endif

class CudnnGraphs : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto& loaded = cuda::cudnn_library().load();
    if (loaded.message().find("is not there") != std::string::npos) GTEST_SKIP() << loaded.message();
    ASSERT_EQ(loaded, Status{});
    if (cuda::cudnn_library().version() < 91900) GTEST_SKIP() << "cuDNN " << cuda::cudnn_library().version_text();
  }

  // Engines compile kernels, for which the library wants the driver's library, though no GPU. Without it there is no
  // engine, and everything before is in order.
  static void expect_engine(const AttentionProblem& p, AttentionForm form) {
    SCOPED_TRACE(to_string(p));
    auto target = cuda::DnnTarget::described(kH100);
    ASSERT_TRUE(target.ok()) << target.status().message();
    const auto graph = cuda::attention_graph(p, form).graph;
    ASSERT_EQ(graph.status(), Status{});
    const auto found = graph.find_engine(*target);
    if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
      EXPECT_EQ(found, Status{});
    } else {
      EXPECT_EQ(found.message(), "mode A: no engine; mode fallback: no engine");
    }
  }

 private:
  [[maybe_unused]] LeaksOfOthers leaks_of_others_;
};

TEST_F(CudnnGraphs, OfAttentionAreRecognised) {
  for (const bool causal : {false, true}) {
    expect_engine(problem(false, causal, 1024, 1024, 64, 64), AttentionForm::composite);
    expect_engine(problem(false, causal, 100, 167, 40, 24), AttentionForm::composite);
  }
  expect_engine(problem(false, false, 1024, 1024, 64, 64), AttentionForm::unified);
}

TEST_F(CudnnGraphs, OfGradientsAreRecognised) {
  for (const bool causal : {false, true}) {
    expect_engine(problem(true, causal, 1024, 1024, 64, 64), AttentionForm::composite);
    auto p = problem(true, causal, 100, 167, 40, 24);
    expect_engine(p, AttentionForm::composite);
    p.any_order = true;
    expect_engine(p, AttentionForm::composite);
  }
}

TEST_F(CudnnGraphs, OfGradientsNameWhatTheyHaveInMemory) {
  auto p = problem(true, false, 128, 256, 64, 32);
  EXPECT_THAT(cuda::attention_graph(p, AttentionForm::composite).inner, ElementsAre(2 * 3 * 128 * 4));
  p.any_order = true;
  EXPECT_THAT(cuda::attention_graph(p, AttentionForm::composite).inner,
              ElementsAre(2 * 3 * 128 * 4, 2 * 3 * 128 * 64 * 4));
}

TEST_F(CudnnGraphs, OfSplitHeadsAreRecognised) {
  auto p = problem(true, true, 256, 256, 64, 64);
  for (auto* strides : {&p.q, &p.k, &p.v, &p.g}) *strides = {147456, 64, 576, 1};
  expect_engine(p, AttentionForm::composite);
}

// As GPT-2 has them: three side by side in rows, the result and its gradient with heads inside of rows.
TEST_F(CudnnGraphs, OfResultsWhereTheyAreReadAreRecognised) {
  auto forward = problem(false, true, 256, 256, 64, 64);
  for (auto* strides : {&forward.q, &forward.k, &forward.v}) *strides = {147456, 64, 576, 1};
  forward.y = {49152, 64, 192, 1};
  expect_engine(forward, AttentionForm::composite);
  auto p = problem(true, true, 256, 256, 64, 64);
  for (auto* strides : {&p.q, &p.k, &p.v, &p.dq, &p.dk, &p.dv}) *strides = {147456, 64, 576, 1};
  p.y = p.g = forward.y;
  expect_engine(p, AttentionForm::composite);
}

TEST(AttentionPlaces, AreWhereTheirReadersWantThem) {
  ir::ProgramBuilder builder;
  const auto add = [&](const ir::Op& op, std::initializer_list<ir::Ref> from) {
    return *builder.add(op, std::span(from.begin(), from.size()));
  };
  const ir::Shape heads{2, 3, 64, 8};
  const auto input = [&](ir::DType dtype, const ir::Shape& shape) { return builder.add_input({dtype, shape}); };
  const auto q = input(ir::DType::bf16, heads), k = input(ir::DType::bf16, heads), v = input(ir::DType::bf16, heads);
  const auto y = add(ir::Attention{.scale = 1, .causal = true}, {q, k, v});
  const auto rows = add(ir::Reshape{{2, 64, 24}}, {add(ir::Permute{{0, 2, 1, 3}}, {y})});
  const auto g = input(ir::DType::bf16, heads);
  const auto grads = add(ir::AttentionGrad{.scale = 1, .causal = true}, {q, k, v, y, y.result(1), g});
  const auto inside = [&](ir::Ref grad) {
    return add(ir::Reshape{{2, 64, 1, 3, 8}}, {add(ir::Permute{{0, 2, 1, 3}}, {grad})});
  };
  const auto whole = add(ir::Concat{2}, {inside(grads), inside(grads.result(1)), inside(grads.result(1))});
  const auto program = builder.finish({add(ir::Pointwise{ir::PointwiseFn::neg}, {rows}),
                                       add(ir::Pointwise{ir::PointwiseFn::neg}, {whole}), grads.result(2)});
  const auto layouts = compile::layouts_of(program);
  const auto views = compile::find_views(program, layouts);
  const auto& seen = views[static_cast<std::size_t>(rows.index())];  // a view now, not a copy
  EXPECT_EQ(seen.base, y);
  EXPECT_EQ(seen.strides, (ir::Dims{1536, 24, 1}));
  const auto places = compile::places_inside(program, views);
  ASSERT_EQ(places.size(), 1u);  // the second is read twice, the third is an output
  const auto& place = places.at(grads.index());
  EXPECT_EQ(place.whole, whole);
  EXPECT_EQ(place.offset, 0);
  EXPECT_EQ(place.strides, (ir::Dims{4608, 8, 72, 1}));
}

// Rows of 64 f32 lie as by themselves, whatever else reads them; columns only where nothing else does.
TEST(ConcatPlaces, AreInTheWholeWhereThatIsOnePieceOrNothingElseReads) {
  ir::ProgramBuilder builder;
  const auto add = [&](const ir::Op& op, std::initializer_list<ir::Ref> from) {
    return *builder.add(op, std::span(from.begin(), from.size()));
  };
  const auto pointwise = [&](ir::PointwiseFn fn, ir::Ref x) { return add(ir::Pointwise{fn}, {x}); };
  const auto x = builder.add_input({ir::DType::f32, {4, 64}}), w = builder.add_input({ir::DType::f32, {64, 64}});
  const auto product = add(ir::MatMul{}, {x, w}), twice = pointwise(ir::PointwiseFn::exp, product);
  const auto rows = add(ir::Concat{0}, {product, twice, twice, x});
  const auto once = pointwise(ir::PointwiseFn::cos, product), other = add(ir::MatMul{}, {twice, w});
  const auto columns = add(ir::Concat{1}, {product, other, once});
  const auto output = pointwise(ir::PointwiseFn::tanh, product);
  const auto last = add(ir::Concat{0}, {output, product});
  const auto program = builder.finish({pointwise(ir::PointwiseFn::neg, rows), pointwise(ir::PointwiseFn::neg, columns),
                                       pointwise(ir::PointwiseFn::neg, last), output});
  const auto places = compile::places_inside(program, compile::find_views(program));
  ASSERT_EQ(places.size(), 2u);  // not what is there twice, what is an input or an output, what has a place already
  const auto& of_product = places.at(product.index());
  EXPECT_EQ(of_product.whole, rows);
  EXPECT_EQ(of_product.offset, 0);
  EXPECT_TRUE(of_product.lies_there);
  const auto& of_once = places.at(once.index());
  EXPECT_EQ(of_once.whole, columns);
  EXPECT_EQ(of_once.offset, 128);
  EXPECT_EQ(of_once.strides, (ir::Dims{192, 1}));
  EXPECT_FALSE(of_once.lies_there);
}

// A first part of a large whole would keep its memory from the beginning on.
TEST(ConcatPlaces, AreLeftOutWhereTheyWouldCostMemory) {
  ir::ProgramBuilder builder;
  const auto add = [&](const ir::Op& op, std::initializer_list<ir::Ref> from) {
    return *builder.add(op, std::span(from.begin(), from.size()));
  };
  const auto program = [&](int between) {
    builder = {};
    auto x = builder.add_input({ir::DType::f32, {4096, 1024}});
    const auto small = add(ir::Pointwise{ir::PointwiseFn::exp}, {add(ir::Slice{{0, 0}, {64, 1024}, {1, 1}}, {x})});
    for (int i = 0; i < between; ++i) x = add(ir::Pointwise{ir::PointwiseFn::tanh}, {x});
    const auto whole = add(ir::Concat{0}, {small, x});
    return builder.finish({add(ir::Pointwise{ir::PointwiseFn::neg}, {whole})});
  };
  const auto places = [&](const ir::Program& of) { return compile::places_inside(of, compile::find_views(of)).size(); };
  EXPECT_EQ(places(program(1)), 2u);
  EXPECT_EQ(places(program(50)), 0u);
}

TEST_F(CudnnGraphs, NameWhatIsWrongWithThem) {
  auto p = problem(false, false, 128, 128, 64, 64);
  p.q[2] = -64;
  const auto status = cuda::attention_graph(p, AttentionForm::composite).graph.status();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.message(), HasSubstr("tensor"));
  EXPECT_THAT(status.message(), HasSubstr("CUDNN_STATUS"));
}

}  // namespace
}  // namespace burn::testing
