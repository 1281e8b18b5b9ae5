#include "app/session/sample_data.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

namespace attnscope {

namespace fs = std::filesystem;

fs::path sample_data_folder() {
  std::error_code ignored;
  if (const char* given = std::getenv("ATTNSCOPE_SAMPLE_DATA")) return given;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  if (program.empty()) return {};
  const fs::path installed = program.parent_path().parent_path() / "share/attnscope/sample_data";
  if (fs::is_directory(installed, ignored)) return installed;
  for (fs::path folder = program.parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    if (fs::is_directory(folder / "sample_data", ignored)) return folder / "sample_data";
  }
  return {};
}

std::vector<fs::path> first_minute_models() {
  std::vector<fs::path> models;
  std::error_code ignored;
  for (const char* name : {"fashion-softmax.h5", "fashion-adder.h5"}) {
    const fs::path model = sample_data_folder() / "models" / name;
    if (fs::exists(model, ignored)) models.push_back(model);
  }
  return models;
}

std::vector<fs::path> sample_inputs() {
  std::vector<fs::path> inputs;
  std::error_code ignored;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(sample_data_folder() / "inputs", ignored)) {
    const fs::path extension = entry.path().extension();
    if (extension == ".png" || extension == ".jpg" || extension == ".jpeg") {
      inputs.push_back(entry.path());
    }
  }
  std::ranges::sort(inputs);
  return inputs;
}

}  // namespace attnscope
