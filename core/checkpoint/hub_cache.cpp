#include "core/checkpoint/hub_cache.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "core/checkpoint/format.h"
#include "core/error.h"
#include "core/file/read_file.h"

namespace attnscope {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kModels = "models--";
constexpr std::size_t kLongestRef = 4096;  // bytes

/// A name of the hub in its parts; the revision is empty if it was not given.
struct HubName {
  std::string org, name, revision;

  [[nodiscard]] fs::path folder() const {
    return hub_cache() / (std::string(kModels) + org + "--" + name);
  }
};

bool is_hub_word(const std::string& word) {
  const auto fits = [](unsigned char sign) {
    return std::isalnum(sign) != 0 || sign == '-' || sign == '_' || sign == '.';
  };
  return !word.empty() && word.front() != '.' && word.front() != '-' &&
         std::ranges::all_of(word, fits);
}

/// A revision may have folders, such as refs/pr/1, but leads nowhere else.
bool is_revision(const std::string& text) {
  return !text.empty() && text.front() != '/' && text.find("..") == std::string::npos;
}

std::optional<HubName> parse_hub_name(const std::string& text) {
  const std::size_t at = text.find('@');
  const std::string path = text.substr(0, at);
  const std::size_t slash = path.find('/');
  if (slash == std::string::npos) return {};
  HubName parsed{path.substr(0, slash), path.substr(slash + 1), {}};
  if (!is_hub_word(parsed.org) || !is_hub_word(parsed.name)) return {};
  if (at == std::string::npos) return parsed;
  parsed.revision = text.substr(at + 1);
  return is_revision(parsed.revision) ? std::optional(parsed) : std::nullopt;
}

bool folder_exists(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

/// True for names such as vit.safetensors, which are files that are missing.
bool has_weight_extension(const std::string& name) {
  const std::string extension = fs::path(name).extension().string();
  if (extension.empty()) return false;
  return std::ranges::any_of(checkpoint_formats(), [&](const CheckpointFormat& format) {
    const std::string extensions = " " + std::string(format.extensions) + " ";
    return extensions.find(" " + extension + " ") != std::string::npos;
  });
}

/// The folder of an environment variable; empty if it is not set.
fs::path folder_in(const char* variable) {
  const char* const value = std::getenv(variable);
  const std::string path = value ? value : "";
  const char* const home = std::getenv("HOME");
  if (!path.starts_with("~/") || !home) return path;
  return fs::path(home) / path.substr(2);
}

std::vector<std::string> snapshots_in(const HubName& name) {
  std::vector<std::string> commits;
  for (const fs::path& folder : folders_in(name.folder() / "snapshots")) {
    commits.push_back(folder.filename().string());
  }
  std::ranges::sort(commits);
  return commits;
}

/// The commit of the revision, whose folder exists; empty if the cache lacks it.
std::string commit_of(const HubName& name) {
  const std::string revision = name.revision.empty() ? "main" : name.revision;
  const fs::path snapshots = name.folder() / "snapshots", ref = name.folder() / "refs" / revision;
  std::error_code ignored;
  if (fs::is_regular_file(ref, ignored)) {
    std::string commit = read_file(ref, kLongestRef);
    commit.erase(commit.find_last_not_of(" \n") + 1);
    if (is_revision(commit) && folder_exists(snapshots / commit)) return commit;
  }
  std::vector<std::string> commits = snapshots_in(name);
  if (name.revision.empty()) return commits.size() == 1 ? commits.front() : std::string();
  std::erase_if(commits, [&](const std::string& one) { return !one.starts_with(revision); });
  return commits.size() == 1 ? commits.front() : std::string();
}

std::string revisions_in_words(const HubName& name) {
  std::string words;
  for (const std::string& commit : snapshots_in(name))
    words += (words.empty() ? "" : ", ") + commit;
  return words.empty() ? "none" : words;
}

}  // namespace

fs::path hub_cache() {
  if (const fs::path cache = folder_in("HF_HUB_CACHE"); !cache.empty()) return cache;
  if (const fs::path home = folder_in("HF_HOME"); !home.empty()) return home / "hub";
  fs::path caches = folder_in("XDG_CACHE_HOME");
  if (caches.empty()) caches = folder_in("HOME") / ".cache";
  return caches / "huggingface" / "hub";
}

bool is_hub_name(const std::string& text) {
  const std::optional<HubName> name = parse_hub_name(text);
  std::error_code ignored;
  if (!name || fs::exists(text, ignored)) return false;
  if (folder_exists(name->folder())) return true;
  return !folder_exists(name->org) && !has_weight_extension(name->name);
}

fs::path model_path(const std::string& text) {
  if (!is_hub_name(text)) return text;
  const HubName name = *parse_hub_name(text);
  const std::string full = name.org + "/" + name.name;
  const std::string download =
      "hf download " + full + (name.revision.empty() ? "" : " --revision " + name.revision);
  if (!folder_exists(name.folder())) {
    throw Error(ErrorKind::io,
                "there is no such file, and the model is not in the local Hugging Face cache")
        .about(full)
        .expected(name.folder().string())
        .remedy(download + " downloads it");
  }
  const std::string commit = commit_of(name);
  if (commit.empty()) {
    throw Error(ErrorKind::io, "the revision is not in the local Hugging Face cache")
        .in_file(name.folder())
        .about(full)
        .expected(name.revision.empty() ? "main" : name.revision)
        .found(revisions_in_words(name))
        .remedy(download + " downloads it");
  }
  return name.folder() / "snapshots" / commit;
}

std::optional<std::string> hub_model_name(const fs::path& path) {
  const fs::path snapshots = path.parent_path();
  const std::string model = snapshots.parent_path().filename().string();
  if (snapshots.filename() != "snapshots" || !model.starts_with(kModels)) return {};
  const std::size_t end = model.find("--", kModels.size());
  if (end == std::string::npos) return model.substr(kModels.size());
  return model.substr(end + 2);
}

}  // namespace attnscope
