#include "proto/message.h"

#include "proto/verbs.h"

namespace burn::proto {

bool is_ordered(const Body& body) { return verb_of(body).turn == Turn::ordered; }

std::string_view name(const Body& body) { return verb_of(body).name; }

}  // namespace burn::proto
