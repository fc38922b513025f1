// The call site that formulas over values record (client/ops/formula.h): operators have no argument for it.
#pragma once

#include "ir/program.h"

namespace burn::client {

// From its construction to the end of the block, formulas of this thread record `site`. A site without a file changes
// nothing: the site of the enclosing scope remains.
//
//   const SiteScope scope{site};
//   return x * sigmoid(x) + 0.5;
class SiteScope {
 public:
  explicit SiteScope(const ir::CallSite& site) : outer_(current_) {
    if (site.file != nullptr) current_ = site;
  }
  ~SiteScope() { current_ = outer_; }
  SiteScope(const SiteScope&) = delete;
  SiteScope& operator=(const SiteScope&) = delete;

  static const ir::CallSite& current() { return current_; }

 private:
  static inline constinit thread_local ir::CallSite current_{};
  const ir::CallSite outer_;
};

// The site of this thread's innermost scope; a site without a file if there is no scope.
inline const ir::CallSite& current_site() { return SiteScope::current(); }

}  // namespace burn::client
