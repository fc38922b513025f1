// Code shared by kernels that call oneDNN, where its versions 2 and 3 differ.
#pragma once

#include <optional>

#include <dnnl.hpp>

namespace burn::backends::cpu {

inline const dnnl::engine& cpu_engine() {
  static const auto* engine =
      new dnnl::engine(dnnl::engine::kind::cpu, 0);  // never destroyed: oneDNN may be destroyed before it
  return *engine;
}

// Attributes of a primitive whose executions may overlap.
inline dnnl::primitive_attr own_scratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

// std::nullopt if oneDNN has no kernel for the product but the slow reference one.
inline std::optional<dnnl::matmul::primitive_desc> describe_product(const dnnl::memory::desc& a,
                                                                    const dnnl::memory::desc& b,
                                                                    const dnnl::memory::desc& c) {
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::matmul::primitive_desc found(cpu_engine(), a, b, c, own_scratchpad(), /*allow_empty=*/true);
#else
  const dnnl::matmul::primitive_desc found({a, b, c}, own_scratchpad(), cpu_engine(), /*allow_empty=*/true);
#endif
  if (!found || std::string_view(found.impl_info_str()).starts_with("ref")) return std::nullopt;
  return found;
}

}  // namespace burn::backends::cpu
