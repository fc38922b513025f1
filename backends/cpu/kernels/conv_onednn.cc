#include <new>
#include <unordered_map>

#include "backends/cpu/kernels/conv.h"
#include "backends/cpu/kernels/onednn.h"
#include "backends/cpu/runtime/parallel.h"

namespace burn::backends::cpu {
namespace {

using Descriptor = dnnl::memory::desc;
using Sizes = dnnl::memory::dims;

Sizes sizes(const ir::Dims& dims) { return {dims.begin(), dims.end()}; }

// oneDNN counts the elements that are skipped between those of the kernel.
Sizes gaps(const ir::Dims& dilation) {
  Sizes result = sizes(dilation);
  for (auto& gap : result) --gap;
  return result;
}

// With several groups, weights have a dim for them in front.
Sizes weight_sizes(const ConvProblem& p) {
  Sizes result = sizes(p.weight);
  if (p.groups == 1) return result;
  result[0] /= p.groups;
  result.insert(result.begin(), p.groups);
  return result;
}

Descriptor row_major(const Sizes& dims) {
  Sizes strides(dims.size(), 1);
  for (std::size_t i = dims.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * dims[i + 1];
  return {dims, dnnl::memory::data_type::f32, strides};
}

Descriptor free_choice(const Sizes& dims) {
  return {dims, dnnl::memory::data_type::f32, dnnl::memory::format_tag::any};
}

// An operand or the result: in the layout of the program, and in that of the primitive.
struct Argument {
  int id = 0;
  Descriptor ours, theirs;
  dnnl::reorder reorder;  // from ours to theirs, or for the result back; empty if they are the same
  Descriptor reorder_scratch;

  Argument(int id, const Descriptor& ours, const Descriptor& theirs, bool is_result)
      : id(id), ours(ours), theirs(theirs) {
    if (ours == theirs) return;
    const auto& [from, to] = is_result ? std::pair(theirs, ours) : std::pair(ours, theirs);
    const dnnl::reorder::primitive_desc description(cpu_engine(), from, cpu_engine(), to, own_scratchpad());
    reorder = dnnl::reorder(description);
    reorder_scratch = description.scratchpad_desc();
  }
  bool is_direct() const { return ours == theirs; }
};

class OneDnnConv final : public ConvPrimitive {
 public:
  OneDnnConv(const ConvProblem& p, int threads, ConvLayout layout) : threads_(threads) {
    const LibraryThreads used(threads);  // a primitive is made for a given number of threads
    const Sizes input = sizes(p.input), weight = weight_sizes(p), output = sizes(p.output);
    // With one channel the input's layout has nothing to block over: the row-major kernels read less.
    const bool is_thin = p.groups == 1 && p.input[1] == 1 && p.direction != ConvDirection::weight_grad;
    const auto choice = is_thin || layout == ConvLayout::row_major ? row_major : free_choice;
    const auto x = choice(input), w = choice(weight), y = choice(output);
    const auto stride = sizes(p.stride), begin = sizes(p.pad_begin), end = sizes(p.pad_end), gap = gaps(p.dilation);

    constexpr auto kDirect = dnnl::algorithm::convolution_direct;  // Winograd's loses precision
    const dnnl::convolution_forward::desc forward_problem(dnnl::prop_kind::forward_training, kDirect, x, w, y, stride,
                                                          gap, begin, end);
    const dnnl::convolution_forward::primitive_desc forward(forward_problem, own_scratchpad(), cpu_engine());
    switch (p.direction) {
      case ConvDirection::forward:
        set(dnnl::convolution_forward(forward), forward.scratchpad_desc());
        arguments_ = {{DNNL_ARG_SRC, row_major(input), forward.src_desc(), false},
                      {DNNL_ARG_WEIGHTS, row_major(weight), forward.weights_desc(), false},
                      {DNNL_ARG_DST, row_major(output), forward.dst_desc(), true}};
        return;
      case ConvDirection::input_grad: {
        const dnnl::convolution_backward_data::primitive_desc backward({kDirect, x, w, y, stride, gap, begin, end},
                                                                       own_scratchpad(), cpu_engine(), forward);
        set(dnnl::convolution_backward_data(backward), backward.scratchpad_desc());
        arguments_ = {{DNNL_ARG_DIFF_DST, row_major(output), backward.diff_dst_desc(), false},
                      {DNNL_ARG_WEIGHTS, row_major(weight), backward.weights_desc(), false},
                      {DNNL_ARG_DIFF_SRC, row_major(input), backward.diff_src_desc(), true}};
        return;
      }
      case ConvDirection::weight_grad: {
        const dnnl::convolution_backward_weights::primitive_desc backward({kDirect, x, w, y, stride, gap, begin, end},
                                                                          own_scratchpad(), cpu_engine(), forward);
        set(dnnl::convolution_backward_weights(backward), backward.scratchpad_desc());
        arguments_ = {{DNNL_ARG_SRC, row_major(input), backward.src_desc(), false},
                      {DNNL_ARG_DIFF_DST, row_major(output), backward.diff_dst_desc(), false},
                      {DNNL_ARG_DIFF_WEIGHTS, row_major(weight), backward.diff_weights_desc(), true}};
        return;
      }
    }
  }

  Status run(Run& run, const float* first, const float* second, float* result) const override {
    const LibraryThreads used(threads_);
    try {
      return run_or_throw(run, {const_cast<float*>(first), const_cast<float*>(second), result});
    } catch (const dnnl::error& error) {
      return internal_error(std::string("oneDNN: ") + error.what());
    } catch (const std::bad_alloc&) {
      return resource_exhausted("out of memory");
    }
  }

 private:
  void set(dnnl::primitive primitive, const Descriptor& scratch) {
    primitive_ = std::move(primitive);
    scratch_ = scratch;
  }

  Status run_or_throw(Run& run, const std::array<float*, 3>& data) const {
    dnnl::stream stream(cpu_engine());
    std::vector<CpuBufferPtr> buffers;
    const auto temporary = [&](const Descriptor& descriptor) -> Result<dnnl::memory> {
      BURN_TRY(auto buffer, run.pool.allocate(descriptor.get_size()));
      buffers.push_back(buffer);
      return dnnl::memory(descriptor, cpu_engine(), buffer->data());
    };
    const auto reorder = [&](const Argument& argument, dnnl::memory from, dnnl::memory to) -> Status {
      BURN_TRY(auto scratch, temporary(argument.reorder_scratch));
      argument.reorder.execute(stream, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}, {DNNL_ARG_SCRATCHPAD, scratch}});
      return {};
    };

    std::unordered_map<int, dnnl::memory> memories;
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      const auto& argument = arguments_[i];
      dnnl::memory memory(argument.ours, cpu_engine(), data[i]);
      if (!argument.is_direct()) {
        BURN_TRY(auto theirs, temporary(argument.theirs));
        if (i < 2) BURN_RETURN_IF_ERROR(reorder(argument, memory, theirs));
        memory = theirs;
      }
      memories.emplace(argument.id, memory);
    }
    BURN_TRY(auto scratch, temporary(scratch_));
    memories.emplace(DNNL_ARG_SCRATCHPAD, scratch);
    primitive_.execute(stream, memories);
    if (const auto& last = arguments_[2]; !last.is_direct()) {
      const dnnl::memory ours(last.ours, cpu_engine(), data[2]);
      BURN_RETURN_IF_ERROR(reorder(last, memories.at(last.id), ours));
    }
    stream.wait();
    return {};
  }

  int threads_;
  dnnl::primitive primitive_;
  Descriptor scratch_;
  std::vector<Argument> arguments_;  // two operands, then the result
};

// Generated kernels count in 32 bits, and have hardly been tried on outputs that read nothing of the input. Such sizes
// use the plain loops.
bool is_usual(const ConvProblem& p) {
  constexpr std::int64_t kMaxElements = std::int64_t{1} << 30, kMaxStep = 1 << 12;
  for (const auto* shape : {&p.input, &p.weight, &p.output}) {
    if (ir::num_elements(*shape) > kMaxElements) return false;
  }
  for (int i = 0; i < p.spatial(); ++i) {
    const auto extent = (p.weight[i + 2] - 1) * p.dilation[i] + 1;
    if (p.stride[i] > kMaxStep || extent > kMaxStep || p.pad_begin[i] >= extent || p.pad_end[i] >= extent) return false;
  }
  return true;
}

}  // namespace

std::unique_ptr<const ConvPrimitive> make_conv_primitive(const ConvProblem& problem, int threads, ConvLayout layout) {
  if (!is_usual(problem)) return nullptr;
  try {
    return std::make_unique<OneDnnConv>(problem, threads, layout);
  } catch (const dnnl::error&) {
    return nullptr;  // no kernel for it
  }
}

}  // namespace burn::backends::cpu
