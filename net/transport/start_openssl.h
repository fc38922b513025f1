// Starts OpenSSL for the process.
#pragma once

namespace burn::net {

// To be called before a thread of ours uses OpenSSL, on the caller's thread: what OpenSSL notes about the thread that
// starts it is freed at the end of the process only. OpenSSL does not free its tables at exit(), as threads that still
// connect may be reading them then. Safe to repeat.
void start_openssl();

}  // namespace burn::net
