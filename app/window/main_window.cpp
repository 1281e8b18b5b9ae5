#include "app/session/session.h"
