#include "app/window/dropped_file.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <string>
#include <system_error>

#include "analysis/training/checkpoint_series.h"
#include "core/checkpoint/model_folder.h"
#include "core/error.h"
#include "core/input/text.h"

namespace attnscope {

namespace {

std::string lower_extension(const std::filesystem::path& file) {
  std::string extension = file.extension().string();
  std::ranges::transform(extension, extension.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

bool names_idx(const std::filesystem::path& file) {
  return file.filename().string().find("idx") != std::string::npos;
}

bool is_session(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return false;  // a pipe might never end
  std::ifstream stream(file, std::ios::binary);
  std::string start(256, '\0');
  stream.read(start.data(), static_cast<std::streamsize>(start.size()));
  return start.find("\"attnscope_session\"") != std::string::npos;
}

bool is_training(const std::filesystem::path& folder) {
  try {
    return checkpoint_series(folder).size() > 1;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

FileUse use_of(const std::filesystem::path& file) {
  const std::string extension = lower_extension(file);
  std::error_code ignored;
  if (is_model_folder(file)) return FileUse::model;
  if (std::filesystem::is_directory(file, ignored)) {
    return is_training(file) ? FileUse::training : FileUse::input;
  }
  for (const char* input : {".png", ".jpg", ".jpeg", ".npy", ".wav"}) {
    if (extension == input) return FileUse::input;
  }
  if (is_text_file_name(file)) return FileUse::input;
  if (names_idx(file)) return FileUse::input;
  if (extension == ".json" && is_session(file)) return FileUse::session;
  return FileUse::model;
}

std::string input_locator_of(const std::filesystem::path& file) {
  const std::string extension = lower_extension(file);
  std::error_code ignored;
  const bool is_set = std::filesystem::is_directory(file, ignored) || names_idx(file) ||
                      extension == ".h5" || extension == ".hdf5" || extension == ".npz";
  return is_set ? file.string() + "#0" : file.string();
}

bool are_pictures(const std::vector<std::filesystem::path>& files) {
  return files.size() > 1 && std::ranges::all_of(files, [](const std::filesystem::path& file) {
           const std::string extension = lower_extension(file);
           return extension == ".png" || extension == ".jpg" || extension == ".jpeg";
         });
}

}  // namespace attnscope
