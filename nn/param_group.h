// Forwards to nn/module/param_group.h, for code that includes the old path.
#pragma once

#include "nn/module/param_group.h"
