#include <algorithm>
#include <cctype>
#include <utility>

#include "core/error.h"
#include "core/input/data_set_kinds.h"
#include "core/shown_text.h"

namespace attnscope {

namespace {

bool is_picture(const std::filesystem::path& file) {
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension == ".png" || extension == ".jpg" || extension == ".jpeg";
}

struct Picture {
  std::filesystem::path file;
  int class_index;
};

class ClassFolders : public DataSet {
 public:
  ClassFolders(std::filesystem::path folder, std::vector<Picture> pictures,
               std::vector<std::string> class_names)
      : folder_(std::move(folder)),
        pictures_(std::move(pictures)),
        class_names_(std::move(class_names)) {}

  [[nodiscard]] std::int64_t size() const override {
    return static_cast<std::int64_t>(pictures_.size());
  }

  [[nodiscard]] Input item(std::int64_t index) const override {
    check_index(folder_, index, size());
    const Picture& picture = pictures_[static_cast<std::size_t>(index)];
    return {read_image(picture.file), shown_text(picture.file.filename().string()),
            item_locator(folder_, index), picture.class_index};
  }

  [[nodiscard]] const std::vector<std::string>& class_names() const override {
    return class_names_;
  }

  [[nodiscard]] std::vector<std::filesystem::path> files() const override { return {folder_}; }

 private:
  std::filesystem::path folder_;
  std::vector<Picture> pictures_;
  std::vector<std::string> class_names_;
};

std::vector<std::filesystem::path> sorted_content(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> content;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    content.push_back(entry.path());
  }
  std::sort(content.begin(), content.end());
  return content;
}

}  // namespace

std::shared_ptr<const DataSet> open_class_folders(const std::filesystem::path& folder) {
  std::vector<Picture> pictures;
  std::vector<std::string> class_names;
  try {
    for (const std::filesystem::path& class_folder : sorted_content(folder)) {
      if (!std::filesystem::is_directory(class_folder)) continue;
      const auto class_index = static_cast<int>(class_names.size());
      class_names.push_back(shown_text(class_folder.filename().string()));
      for (std::filesystem::path& file : sorted_content(class_folder)) {
        if (is_picture(file)) pictures.push_back({std::move(file), class_index});
      }
    }
  } catch (const std::filesystem::filesystem_error& problem) {
    throw Error(ErrorKind::io, "cannot be read: " + problem.code().message())
        .in_file(problem.path1());
  }
  if (pictures.empty()) {
    throw Error(ErrorKind::not_this_format,
                "is not a data set: the folders inside it hold no pictures")
        .in_file(folder)
        .expected("FOLDER/CLASS/PICTURE.png or .jpg");
  }
  return std::make_shared<ClassFolders>(folder, std::move(pictures), std::move(class_names));
}

}  // namespace attnscope
