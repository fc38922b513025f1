// Another program, started by a test, which reads its output line by line, and waits for its end or ends it.
#pragma once

#include <csignal>
#include <string>
#include <vector>

#include <sys/types.h>

namespace burn::server {

class Process {
 public:
  // Starts arguments[0], and captures its standard output and standard error.
  explicit Process(const std::vector<std::string>& arguments);
  ~Process();  // kills it
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  std::string read_line();    // of standard output, without the newline; empty at its end
  std::string read_errors();  // all of standard error; waits for its end
  void send(int signal) const;
  pid_t id() const { return id_; }
  int wait();  // the exit code; minus the number of the signal that ended it

 private:
  pid_t id_ = -1;
  int output_ = -1, errors_ = -1;
};

}  // namespace burn::server
