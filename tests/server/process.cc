#include "tests/server/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

extern char** environ;

namespace burn::server {

Process::Process(const std::vector<std::string>& arguments) {
  int output[2], errors[2];
  BURN_CHECK(pipe2(output, O_CLOEXEC) == 0 && pipe2(errors, O_CLOEXEC) == 0, "no pipes");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors[1], STDERR_FILENO);
  std::vector<char*> pointers;
  for (const auto& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  BURN_CHECK(posix_spawn(&id_, pointers[0], &actions, nullptr, pointers.data(), environ) == 0,
             "the program does not start");
  posix_spawn_file_actions_destroy(&actions);
  close(output[1]);
  close(errors[1]);
  output_ = output[0];
  errors_ = errors[0];
}

Process::~Process() {
  if (id_ > 0) {
    send(SIGKILL);
    wait();
  }
  close(output_);
  close(errors_);
}

std::string Process::read_line() {
  std::string line;
  for (char c = 0; read(output_, &c, 1) == 1 && c != '\n';) line += c;
  return line;
}

std::string Process::read_errors() {
  std::string text;
  for (char c = 0; read(errors_, &c, 1) == 1;) text += c;
  return text;
}

void Process::send(int signal) const { kill(id_, signal); }

int Process::wait() {
  int status = 0;
  waitpid(id_, &status, 0);
  id_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace burn::server
