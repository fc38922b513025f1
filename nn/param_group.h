// ParamGroup, under the path it had: nn/module/param_group.h.
#pragma once

#include "nn/module/param_group.h"
