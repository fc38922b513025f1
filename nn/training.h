// Forwards to nn/module/training.h, for code that includes the old path.
#pragma once

#include "nn/module/training.h"
