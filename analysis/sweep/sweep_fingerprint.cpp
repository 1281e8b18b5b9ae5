#include "analysis/sweep/sweep_fingerprint.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>
#include <xxhash.h>

#include "analysis/sweep/statistics.h"
#include "core/architecture/model_spec_json.h"
#include "core/checkpoint/weight_files.h"
#include "core/error.h"
#include "core/file/mapped_file.h"

namespace attnscope {

namespace {

/// XXH3 with 64 bits; as fast as memory is read.
class ContentHash {
 public:
  ContentHash() { XXH3_64bits_reset(state_.get()); }
  void add(const void* bytes, std::size_t count) { XXH3_64bits_update(state_.get(), bytes, count); }
  [[nodiscard]] std::string text() const {
    std::array<char, 20> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx",
                  static_cast<unsigned long long>(XXH3_64bits_digest(state_.get())));
    return digits.data();
  }

 private:
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state_{XXH3_createState(),
                                                                  &XXH3_freeState};
};

void add_file(ContentHash& hash, const std::filesystem::path& path) {
  const auto file = MappedFile::open(path);
  hash.add(file->bytes().data(), file->size());
  file->check_unchanged();
}

/// Adds the names, sizes and times of all files inside: reading a million pictures takes minutes.
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

}  // namespace

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

std::string content_hash(const std::vector<NamedTensors>& layers) {
  ContentHash hash;
  for (const NamedTensors& layer : layers) {
    for (const auto& [name, tensor] : layer) {
      hash.add(name.data(), name.size());
      hash.add(tensor.data(), static_cast<std::size_t>(tensor.size()) * sizeof(float));
    }
  }
  return hash.text();
}

std::string content_hash(const std::string& text) {
  ContentHash hash;
  hash.add(text.data(), text.size());
  return hash.text();
}

nlohmann::json subject_fingerprint(const std::string& label, const Subject& subject) {
  const Model& model = *subject.model;
  std::string read_as = to_json(model.spec());
  for (const Assumption& each : model.assumptions()) {
    read_as += "\n" + each.option + "=" + each.value;
  }
  return {label, content_hash(weight_files(model.file())), to_string(subject.mechanism),
          subject.parameters ? content_hash(*subject.parameters) : std::string(),
          content_hash(read_as)};
}

std::string sweep_fingerprint(const SweepRequest& request) {
  using nlohmann::json;
  json subjects = json::array();
  for (const Subject& subject : request.subjects) {
    subjects.push_back(subject_fingerprint(subject.label, subject));
  }
  std::vector<std::filesystem::path> data = request.data_set->files();
  if (data.empty()) data = {request.data_set_path};
  json views = json::array();
  for (const IdentityView view : request.views) views.push_back(static_cast<int>(view));
  json statistics = json::array();
  for (const SweepStatistic& statistic : sweep_statistics()) statistics.push_back(statistic.name);
  json all = {{"version", ATTNSCOPE_VERSION},
              {"subjects", subjects},
              {"data_set", content_hash(data)},
              {"size", request.data_set->size()},
              {"first", request.first},
              {"count", chosen_count(request.items(), request.choice)},
              {"seed", request.choice.seed},
              {"thresholds", request.thresholds},
              {"views", views},
              {"statistics", statistics},
              {"numbers", in_words(request.numbers)}};
  if (request.end > 0) all["items"] = request.items();
  if (request.share != RankShare::values) all["share"] = name_of(rank_share_names, request.share);
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string fingerprint_difference(const std::string& one, const std::string& other) {
  using nlohmann::json;
  // Keys of the fingerprint with their names in messages.
  constexpr std::pair<const char*, const char*> kParts[] = {
      {"version", "the version of the program"},
      {"subjects", "the models"},
      {"data_set", "the contents of the data set"},
      {"size", "the size of the data set"},
      {"first", "the first input"},
      {"items", "the last input"},
      {"count", "the number of inputs"},
      {"seed", "the seed"},
      {"thresholds", "the thresholds"},
      {"share", "the share of singular values or their squares"},
      {"views", "the view of the identity"},
      {"statistics", "the statistics of each map"},
      {"numbers", "the further numbers"},
      {"changes", "the changes to the maps"}};
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
