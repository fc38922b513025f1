// What the kernels of convolutions are written in: sizes as parameters, places in an image, and the tiles of a result.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "compile/codegen/kernels/arguments.h"
#include "compile/codegen/kernels/tile.h"

namespace burn::compile::kernels {

struct ConvSizes {
  std::int64_t batch, groups, in_channels, out_channels;  // channels of a group
  std::vector<std::int64_t> input, kernel, output, stride, padding, dilation;

  int spatial() const { return static_cast<int>(kernel.size()); }
  static std::int64_t product(const std::vector<std::int64_t>& sizes) {
    std::int64_t all = 1;
    for (const auto size : sizes) all *= size;
    return all;
  }
};

template <typename Op>
ConvSizes sizes_of(const Op& op, const ir::Shape& input, const ir::Shape& weight, const ir::Shape& output) {
  const auto tail = [](const ir::Shape& shape) {
    return std::vector<std::int64_t>(shape.span().begin() + 2, shape.span().end());
  };
  const auto list = [](const ir::Dims& dims) { return std::vector<std::int64_t>(dims.begin(), dims.end()); };
  return {input[0],     op.groups,    weight[1],       weight[0] / op.groups, tail(input),
          tail(weight), tail(output), list(op.stride), list(op.pad_begin),    list(op.dilation)};
}

// A convolution as its kernels are written: the sizes as parameters, and loops over them.
class ConvKernel {
 public:
  // Whether the window's sizes are parameters, or numbers of the kernel's own, which divisions by them are faster for.
  enum class Window { parameter, constant };

  ConvKernel(kernel::Writer& writer, Arguments& arguments, const ConvSizes& sizes, Window window = Window::parameter)
      : writer_(writer),
        arguments_(arguments),
        spatial_(static_cast<std::size_t>(sizes.spatial())),
        input_(arguments.numbers(sizes.input)),
        kernel_(window == Window::constant ? constants(arguments, sizes.kernel) : arguments.numbers(sizes.kernel)),
        output_(arguments.numbers(sizes.output)),
        stride_(arguments.numbers(sizes.stride)),
        padding_(arguments.numbers(sizes.padding)),
        dilation_(arguments.numbers(sizes.dilation)),
        in_channels_(arguments.number(sizes.in_channels)),
        out_channels_(arguments.number(sizes.out_channels)),
        groups_(arguments.number(sizes.groups)) {
    for (const auto stride : sizes.stride) steps_by_one_.push_back(stride == 1);
  }

  const Values& input() const { return input_; }
  const Values& kernel() const { return kernel_; }
  const Values& output() const { return output_; }
  kernel::Value in_channels() const { return in_channels_; }
  kernel::Value out_channels() const { return out_channels_; }
  kernel::Value groups() const { return groups_; }
  kernel::Value zero() { return arguments_.constant(0); }

  static kernel::Value product(const Values& sizes) {
    kernel::Value all = sizes[0];
    for (std::size_t d = 1; d < sizes.size(); ++d) all = all * sizes[d];
    return all;
  }

  // A place of a row-major list as its indices, and back.
  static Values split(kernel::Value place, const Values& sizes) {
    Values at(sizes.size());
    for (std::size_t d = sizes.size(); d-- > 1;) {
      const kernel::Value before = place / sizes[d];
      at[d] = place - before * sizes[d];
      place = before;
    }
    at[0] = place;
    return at;
  }
  static kernel::Value joined(const Values& at, const Values& sizes) {
    kernel::Value place = at[0];
    for (std::size_t d = 1; d < sizes.size(); ++d) place = place * sizes[d] + at[d];
    return place;
  }

  // body(indices) for all of a list.
  void each(const Values& sizes, const std::function<void(const Values&)>& body) {
    Values at(sizes.size());
    each_from(0, sizes, at, body);
  }

  // Where a place of an image and an element of the window meet; `place` is of no use where it is not inside.
  struct TapPlace {
    kernel::Value place, inside;
  };
  // The place of the input that output place `out` and kernel element `k` meet in.
  TapPlace input_place(const Values& out, const Values& k) {
    Values at(spatial_);
    kernel::Value inside;
    for (std::size_t d = 0; d < spatial_; ++d) {
      at[d] = out[d] * stride_[d] - padding_[d] + k[d] * dilation_[d];
      meet(inside, at[d] >= 0 && at[d] < input_[d]);
    }
    return {joined(at, input_), inside};
  }
  // The place of the output whose window has input place `in` at kernel element `k`.
  TapPlace output_place(const Values& in, const Values& k) {
    Values at(spatial_);
    kernel::Value inside;
    for (std::size_t d = 0; d < spatial_; ++d) {
      const kernel::Value far = in[d] + padding_[d] - k[d] * dilation_[d];
      at[d] = steps_by_one_[d] ? far : far / stride_[d];
      meet(inside, far >= 0 && at[d] < output_[d]);
      if (!steps_by_one_[d]) meet(inside, at[d] * stride_[d] == far);
    }
    return {joined(at, output_), inside};
  }
  // What lies there in the plane that begins at `begin`, or 0.
  kernel::Value element(kernel::Memory from, kernel::Value begin, const TapPlace& at) {
    const kernel::Value element = writer_.load(from, begin + select(at.inside, at.place, zero()));
    return select(at.inside, element, element.number(0));
  }

  // The element of an image [.., in...] that output place `out` and kernel element `k` meet in, or 0 in the padding.
  kernel::Value input_element(kernel::Memory from, kernel::Value begin, const Values& out, const Values& k) {
    return element(from, begin, input_place(out, k));
  }
  // The element of [.., out...] whose window has input place `in` at kernel element `k`, or 0 where there is none.
  kernel::Value output_element(kernel::Memory from, kernel::Value begin, const Values& in, const Values& k) {
    return element(from, begin, output_place(in, k));
  }

 private:
  static Values constants(Arguments& arguments, const std::vector<std::int64_t>& sizes) {
    Values values;
    for (const auto size : sizes) values.push_back(arguments.constant(size));
    return values;
  }
  void each_from(std::size_t d, const Values& sizes, Values& at, const std::function<void(const Values&)>& body) {
    if (d == sizes.size()) return body(at);
    writer_.loop(sizes[d], [&](kernel::Value i) {
      at[d] = i;
      each_from(d + 1, sizes, at, body);
    });
  }

  static void meet(kernel::Value& inside, kernel::Value condition) {
    inside = inside.id < 0 ? condition : inside && condition;
  }

  kernel::Writer& writer_;
  Arguments& arguments_;
  std::size_t spatial_;
  Values input_, kernel_, output_, stride_, padding_, dilation_;
  kernel::Value in_channels_, out_channels_, groups_;
  std::vector<bool> steps_by_one_;  // by dim
};

inline ir::DType index_for(std::span<const View* const> views, const TileGrid& grid) {
  std::int64_t most = grid.threads();
  for (const auto* view : views) most = std::max(most, reach(*view));
  return index_type(most);
}

}  // namespace burn::compile::kernels
