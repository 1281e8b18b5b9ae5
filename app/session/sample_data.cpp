#include "app/session/sample_data.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>
#include <system_error>

#include "app/session/session.h"
#include "core/file/read_file.h"
#include "core/input/input.h"
#include "core/platform/process.h"
#include "core/text/lines.h"

namespace attnscope {

namespace fs = std::filesystem;

namespace {

/// The files of one folder of the sample data with one of these extensions, sorted by name.
std::vector<fs::path> samples(const char* folder,
                              std::initializer_list<std::string_view> extensions) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(sample_data_folder() / folder, ignored)) {
    const std::string extension = entry.path().extension().string();
    if (std::ranges::find(extensions, extension) != extensions.end()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

fs::path sample_data_folder() {
  std::error_code ignored;
  if (const char* given = std::getenv("ATTNSCOPE_SAMPLE_DATA")) return given;
  const fs::path program = program_file();
  if (program.empty()) return {};
  fs::path installed = program.parent_path().parent_path() / "share/attnscope/sample_data";
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

std::vector<fs::path> sample_models() {
  std::vector<fs::path> models = samples("models", {".h5", ".safetensors"});
  std::error_code ignored;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(sample_data_folder() / "models", ignored)) {
    if (fs::exists(entry.path() / "config.json", ignored)) models.push_back(entry.path());
  }
  std::ranges::sort(models);
  return models;
}

std::string sample_input_for(const fs::path& model) {
  std::error_code ignored;
  if (const fs::path text = model / "question.txt"; fs::exists(text, ignored)) {
    const std::string question = read_file(text, 1 << 16);
    return question_locator((model / "question.png").string(), without_spaces(question));
  }
  const bool of_text = model.stem().string().starts_with("shakespeare");
  for (const fs::path& input : sample_inputs()) {
    if ((input.extension() == ".txt") == of_text) return input.string();
  }
  return {};
}

std::vector<fs::path> sample_inputs() {
  return samples("inputs", {".png", ".jpg", ".jpeg", ".txt"});
}

bool open_first_minute(Session& session) {
  const std::vector<fs::path> models = first_minute_models();
  const std::vector<fs::path> inputs = sample_inputs();
  if (models.empty() || inputs.empty()) return false;
  if (!session.input() && session.input_locator().empty()) {
    session.set_input(inputs.front().string());
  }
  for (const fs::path& model : models) session.open(model);
  return true;
}

}  // namespace attnscope
