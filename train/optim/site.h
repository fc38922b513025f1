// Where the user called, for what optimizers, gradients and the learner record: update rules are formulas without
// arguments to spare. Private to train/.
#pragma once

#include "client/ops/ops.h"

namespace burn::optim::detail {

// From here to the end of the block, on this thread. Without a line: that of the scope around it.
class Calling {
 public:
  explicit Calling(const client::Site& site) : outer_(current_) {
    if (site.file != nullptr) current_ = site;
  }
  ~Calling() { current_ = outer_; }
  Calling(const Calling&) = delete;
  Calling& operator=(const Calling&) = delete;

  static const client::Site& site() { return current_; }

 private:
  static inline constinit thread_local client::Site current_{};
  const client::Site outer_;
};

inline const client::Site& here() { return Calling::site(); }

}  // namespace burn::optim::detail
