// The action of SIGHUP: reads options, tokens, tenants, the certificate and the audit log again. If anything is wrong,
// nothing changes.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/status.h"
#include "daemon/host.h"
#include "daemon/options.h"
#include "daemon/service.h"

namespace burn::daemon {

// The options with which a process started, and how to read them again.
struct ReadOptions {
  Daemon daemon = Daemon::every;  // the daemon that has these options
  OptionValues values;
  std::function<Result<OptionValues>()> read;  // empty: options do not change
  // The file of options; the text in effect; the text that was read last; and the path to which the text in effect is
  // saved when a different one is read (daemon/previous_config.h).
  std::string config = {}, active_text = {}, last_text = {}, previous_path = {};
  explicit operator bool() const { return read != nullptr; }
};

class Reload {
 public:
  // `options.values`: the current values; replaced with the new ones. All arguments must outlive this object.
  Reload(Service& service, Host& host, ReadOptions& options) : service_(service), host_(host), options_(options) {}

  // Runs the reload and logs the result. Errors: what was wrong; then nothing has changed.
  Status run();

 private:
  void keep_text(bool is_accepted);
  Status read(std::optional<OptionValues>& next);
  void apply(const OptionValues& next);

  Service& service_;
  Host& host_;
  ReadOptions& options_;
};

// The options whose values differ and that a running process cannot change: "device, ws".
std::string changed_start_options(const OptionValues& before, const OptionValues& after);

}  // namespace burn::daemon
