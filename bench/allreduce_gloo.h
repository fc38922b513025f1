// The same all-reduce by Gloo over its own TCP, beside ours in burn-bench-allreduce.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace burn::bench {

class GlooGroup {
 public:
  virtual ~GlooGroup() = default;
  // A method in which Gloo sums: its name, and what performs it once, from x to y.
  struct Method {
    std::string name;
    std::function<void(const std::vector<float>& x, std::vector<float>& y)> perform;
  };
  virtual std::vector<Method> methods() = 0;
};

// Null: this program was built without Gloo. `folder`: an empty one in which the members find each other. Throws what
// Gloo throws.
std::unique_ptr<GlooGroup> make_gloo_group(int rank, int size, const std::string& folder);

}  // namespace burn::bench
