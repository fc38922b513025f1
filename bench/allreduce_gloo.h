// All-reduce by Gloo over its own TCP transport, for comparison with ours in burn-bench-allreduce.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace burn::bench {

class GlooGroup {
 public:
  virtual ~GlooGroup() = default;
  // One of Gloo's algorithms: its name, and a function that runs it once, from x to y.
  struct Method {
    std::string name;
    std::function<void(const std::vector<float>& x, std::vector<float>& y)> perform;
  };
  virtual std::vector<Method> methods() = 0;
};

// Returns null if this program was built without Gloo. `folder`: an empty folder through which the members find each
// other. Throws the exceptions of Gloo.
std::unique_ptr<GlooGroup> make_gloo_group(int rank, int size, const std::string& folder);

}  // namespace burn::bench
