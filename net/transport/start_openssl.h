// Starts OpenSSL for the process.
#pragma once

namespace burn::net {

// Must be called before a thread of ours uses OpenSSL, on the caller's thread: OpenSSL's state for the thread that
// starts it is freed only at the end of the process. Tables are not freed at exit(), as threads that still connect may
// be reading them. May be called repeatedly.
void start_openssl();

}  // namespace burn::net
