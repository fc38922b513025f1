// What SIGHUP does: options, tokens, tenants, the certificate and the audit log are read again. All of it, or it stays
// as it was where anything is wrong.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/status.h"
#include "daemon/host.h"
#include "daemon/options.h"
#include "daemon/service.h"

namespace burn::daemon {

// Options that a process began with, and how to read them again.
struct ReadOptions {
  Daemon daemon = Daemon::every;  // whose options they are
  OptionValues values;
  std::function<Result<OptionValues>()> read;  // empty: they stay
  // The file of options, its text that holds, that which was there last, and where the former is kept when another is
  // read (daemon/kept_config.h).
  std::string config = {}, text = {}, seen = {}, kept = {};
  explicit operator bool() const { return read != nullptr; }
};

class Reload {
 public:
  // `options.values`: those that hold; they become what is read. All outlive it.
  Reload(Service& service, Host& host, ReadOptions& options) : service_(service), host_(host), options_(options) {}

  // Says in the log what came of it. Errors: what was wrong; then nothing has changed.
  Status run();

 private:
  void keep_text(bool is_accepted);
  Status read(std::optional<OptionValues>& next);
  void apply(const OptionValues& next);

  Service& service_;
  Host& host_;
  ReadOptions& options_;
};

// The options between the two whose values differ, and which a running process does not take over: "device, ws".
std::string changed_start_options(const OptionValues& before, const OptionValues& after);

}  // namespace burn::daemon
