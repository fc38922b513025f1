#include "client/remote_session.h"
