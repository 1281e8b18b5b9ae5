#include "app/render/render.h"
