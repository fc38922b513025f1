// Joins data loaders to the recording of tensors: what a loader's worker records while it makes a batch goes with the
// batch to the thread that consumes it, and becomes part of that thread's program. What a batcher uploads is marked as
// a batch (client/batch_scope.h), with workers or without. And a loop over a loader stays at most a few steps ahead of
// its device (client/record/pacer.h), whether it reads anything or not. Including this header is enough.
#pragma once

namespace burn::train {

// Sets the loaders' hooks (data/batch_hooks.h). Thread-safe; more than once does no harm.
void connect_loaders();

// How long this thread has waited in loaders for its devices, which were far enough behind, since the last call.
double take_paced_seconds();

namespace detail {
inline const bool kLoadersAreConnected = (connect_loaders(), true);
}

}  // namespace burn::train
