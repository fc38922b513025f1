#include "net/transport/start_openssl.h"

#include <openssl/crypto.h>

namespace burn::net {

void start_openssl() { OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, nullptr); }

}  // namespace burn::net
