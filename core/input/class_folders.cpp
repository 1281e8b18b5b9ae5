#include <algorithm>
#include <cctype>
#include <utility>

#include "core/error.h"
#include "core/file/read_file.h"
#include "core/input/data_set_kinds.h"
#include "core/input/text.h"
#include "core/shown_text.h"

namespace attnscope {

namespace {

bool is_picture(const std::filesystem::path& file) {
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension == ".png" || extension == ".jpg" || extension == ".jpeg";
}

/// A file with a picture or a text, and its class.
struct ClassItem {
  std::filesystem::path file;
  int class_index;
};

class ClassFolders : public DataSet {
 public:
  ClassFolders(std::filesystem::path folder, std::vector<ClassItem> items,
               std::vector<std::string> class_names)
      : folder_(std::move(folder)),
        items_(std::move(items)),
        class_names_(std::move(class_names)) {}

  [[nodiscard]] std::int64_t size() const override {
    return static_cast<std::int64_t>(items_.size());
  }

  [[nodiscard]] Input item(std::int64_t index) const override {
    check_index(folder_, index, size());
    const ClassItem& item = items_[static_cast<std::size_t>(index)];
    Input input;
    if (is_text_file_name(item.file)) {
      input.content = read_text(item.file);
    } else {
      input.content = read_image(item.file);
    }
    input.label = shown_text(item.file.filename().string());
    input.locator = item_locator(folder_, index);
    input.class_index = item.class_index;
    return input;
  }

  [[nodiscard]] const std::vector<std::string>& class_names() const override {
    return class_names_;
  }

  [[nodiscard]] std::vector<std::filesystem::path> files() const override { return {folder_}; }

 private:
  std::filesystem::path folder_;
  std::vector<ClassItem> items_;
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
  std::vector<ClassItem> pictures, texts;
  std::vector<std::string> class_names;
  try {
    for (const std::filesystem::path& class_folder : folders_in(folder)) {
      const auto class_index = static_cast<int>(class_names.size());
      class_names.push_back(shown_text(class_folder.filename().string()));
      for (std::filesystem::path& file : sorted_content(class_folder)) {
        if (is_picture(file)) {
          pictures.push_back({std::move(file), class_index});
        } else if (is_text_file_name(file)) {
          texts.push_back({std::move(file), class_index});
        }
      }
    }
  } catch (const std::filesystem::filesystem_error& problem) {
    throw Error(ErrorKind::io, "cannot be read: " + problem.code().message())
        .in_file(problem.path1());
  }
  // Texts next to pictures are ignored as notes.
  std::vector<ClassItem>& items = pictures.empty() ? texts : pictures;
  if (items.empty()) {
    throw Error(ErrorKind::not_this_format,
                "is not a data set: the folders inside it hold no pictures and no texts")
        .in_file(folder)
        .expected("FOLDER/CLASS/PICTURE.png or .jpg, or FOLDER/CLASS/TEXT.txt");
  }
  return std::make_shared<ClassFolders>(folder, std::move(items), std::move(class_names));
}

}  // namespace attnscope
