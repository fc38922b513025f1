// Connects data loaders to the recording of tensors. Ops that a loader's worker records while it makes a batch are
// passed on with the batch, and become part of the program of the thread that consumes it. Tensors that a batcher
// uploads are marked as a batch (client/batch_scope.h), with workers or without. A loop over a loader stays at most a
// few steps ahead of its device (client/record/pacer.h), whether it reads results or not. Including this header is
// enough.
#pragma once

namespace burn::train {

// Sets the loaders' hooks (data/batch_hooks.h). Thread-safe and idempotent.
void connect_loaders();

// How many seconds this thread has waited in loaders, since the last call, because it was too far ahead of its devices.
double take_paced_seconds();

namespace detail {
inline const bool kLoadersAreConnected = (connect_loaders(), true);
}

}  // namespace burn::train
