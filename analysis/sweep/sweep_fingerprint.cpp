#include "analysis/sweep/sweep_fingerprint.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "analysis/sweep/statistics.h"
#include "core/checkpoint/weight_files.h"
#include "core/error.h"
#include "core/file/mapped_file.h"

namespace attnscope {

namespace {

/// FNV-1a.
class ContentHash {
 public:
  void add(const void* bytes, std::size_t count) {
    const auto* byte = static_cast<const unsigned char*>(bytes);
    for (std::size_t i = 0; i < count; ++i) {
      hash_ ^= byte[i];
      hash_ *= 1'099'511'628'211U;
    }
  }
  [[nodiscard]] std::string text() const {
    std::array<char, 20> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash_));
    return digits.data();
  }

 private:
  std::uint64_t hash_ = 14'695'981'039'346'656'037U;
};

void add_file(ContentHash& hash, const std::filesystem::path& path) {
  const auto file = MappedFile::open(path);
  hash.add(file->bytes().data(), file->size());
  file->check_unchanged();
}

/// Names, sizes and times of all files inside: reading a million pictures would take minutes.
void add_folder(ContentHash& hash, const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  try {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      if (!entry.is_regular_file()) continue;
      files.push_back(entry.path().lexically_relative(folder).string() + "\n" +
                      std::to_string(entry.file_size()) + "\n" +
                      std::to_string(entry.last_write_time().time_since_epoch().count()));
    }
  } catch (const fs::filesystem_error& problem) {
    throw Error(ErrorKind::io, "cannot be read: " + problem.code().message())
        .in_file(problem.path1().empty() ? folder : problem.path1());
  }
  std::ranges::sort(files);
  for (const std::string& file : files) hash.add(file.c_str(), file.size() + 1);
}

std::string content_hash(const std::vector<std::filesystem::path>& paths) {
  ContentHash hash;
  for (const std::filesystem::path& path : paths) {
    if (std::filesystem::is_directory(path)) {
      add_folder(hash, path);
    } else {
      add_file(hash, path);
    }
  }
  return hash.text();
}

/// Of what was learnt apart from the model.
std::string hash_of(const std::vector<NamedTensors>& layers) {
  ContentHash hash;
  for (const NamedTensors& layer : layers) {
    for (const auto& [name, tensor] : layer) {
      hash.add(name.data(), name.size());
      hash.add(tensor.data(), static_cast<std::size_t>(tensor.size()) * sizeof(float));
    }
  }
  return hash.text();
}

}  // namespace

std::string sweep_fingerprint(const SweepRequest& request) {
  using nlohmann::json;
  json subjects = json::array();
  for (const Subject& subject : request.subjects) {
    subjects.push_back({subject.label, content_hash(weight_files(subject.model->file())),
                        to_string(subject.mechanism),
                        subject.parameters ? hash_of(*subject.parameters) : std::string()});
  }
  std::vector<std::filesystem::path> data = request.data_set->files();
  if (data.empty()) data = {request.data_set_path};
  json views = json::array();
  for (const IdentityView view : request.views) views.push_back(static_cast<int>(view));
  json statistics = json::array();
  for (const SweepStatistic& statistic : sweep_statistics()) statistics.push_back(statistic.name);
  const json all = {
      {"version", ATTNSCOPE_VERSION},
      {"subjects", subjects},
      {"data_set", content_hash(data)},
      {"size", request.data_set->size()},
      {"first", request.first},
      {"count", chosen_count(request.data_set->size() - request.first, request.choice)},
      {"seed", request.choice.seed},
      {"thresholds", request.thresholds},
      {"views", views},
      {"statistics", statistics}};
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string fingerprint_difference(const std::string& one, const std::string& other) {
  using nlohmann::json;
  // Its keys in a user's words.
  constexpr std::pair<const char*, const char*> kParts[] = {
      {"version", "the version of the program"},
      {"subjects", "the models"},
      {"data_set", "what is in the data set"},
      {"size", "the size of the data set"},
      {"first", "the first input"},
      {"count", "the number of inputs"},
      {"seed", "the seed"},
      {"thresholds", "the thresholds"},
      {"views", "the view of the identity"},
      {"statistics", "what is computed of each map"}};
  const json a = json::parse(one, nullptr, false), b = json::parse(other, nullptr, false);
  if (!a.is_object() || !b.is_object()) return one == other ? "" : "everything";
  std::string words;
  for (const auto& [key, part] : kParts) {
    if (a.value(key, json()) == b.value(key, json())) continue;
    words += (words.empty() ? "" : ", ") + std::string(part);
  }
  return words;
}

}  // namespace attnscope
