#include "tests/support/paths.h"

namespace attnscope {

std::string source_folder() { return ATTNSCOPE_SOURCE_DIR; }

std::string built_program() { return ATTNSCOPE_BINARY; }

}  // namespace attnscope
