// What kernels share that call oneDNN, and where its versions 2 and 3 differ for them.
#pragma once

#include <optional>

#include <dnnl.hpp>

namespace burn::backends::cpu {

inline const dnnl::engine& cpu_engine() {
  static const auto* engine =
      new dnnl::engine(dnnl::engine::kind::cpu, 0);  // never destroyed: oneDNN may end before us
  return *engine;
}

// Attributes of a primitive whose runs may overlap.
inline dnnl::primitive_attr own_scratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

// Nothing where oneDNN has no kernel for the product but the slow one that it checks others with.
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
