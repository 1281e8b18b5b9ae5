#include "core/file/folder_name.h"

#include <system_error>

namespace attnscope {

std::string name_of_folder(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::filesystem::path path = std::filesystem::absolute(folder, ignored).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return path.filename().string();
}

}  // namespace attnscope
