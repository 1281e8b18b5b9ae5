#include "analysis/training/checkpoint_series.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "core/error.h"
#include "core/file/read_file.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestReference = 1000;  // size in bytes

/// The number after the last `word` that has one, directly or after "=", "-" or "_".
std::optional<std::int64_t> number_after(std::string_view name, std::string_view word) {
  for (std::size_t at = name.rfind(word); at != std::string_view::npos;
       at = at == 0 ? std::string_view::npos : name.rfind(word, at - 1)) {
    std::size_t first = at + word.size();
    while (first < name.size() &&
           std::string_view("=-_").find(name[first]) != std::string_view::npos)
      ++first;
    std::size_t last = first;
    while (last < name.size() && std::isdigit(static_cast<unsigned char>(name[last]))) ++last;
    if (last > first) return parse_whole(name.substr(first, last - first));
  }
  return {};
}

bool may_hold_weights(const fs::directory_entry& entry) {
  if (entry.path().filename().string().starts_with("tmp-")) return false;
  if (entry.is_directory()) return true;
  static constexpr std::array<std::string_view, 11> endings = {
      ".h5",   ".hdf5", ".safetensors", ".pt",   ".pth", ".bin",
      ".ckpt", ".npz",  ".gguf",        ".onnx", ".pkl"};
  const std::string ending = entry.path().extension().string();
  return std::find(endings.begin(), endings.end(), ending) != endings.end();
}

std::vector<SeriesModel> models_among(const fs::path& folder) {
  std::vector<SeriesModel> found;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (!may_hold_weights(entry)) continue;
    const auto step = step_in_name(entry.path().filename().string());
    if (step) found.push_back({*step, entry.path()});
  }
  return found;
}

/// Revisions named after steps: refs/step1000 holds the name of a folder in snapshots/.
std::vector<SeriesModel> revisions_in(const fs::path& cache) {
  std::vector<SeriesModel> found;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(cache / "refs", ignored)) {
    const auto step = step_in_name(entry.path().filename().string());
    if (!step || !entry.is_regular_file()) continue;
    const std::string commit = read_file(entry.path(), kLongestReference);
    const fs::path snapshot =
        cache / "snapshots" / commit.substr(0, commit.find_last_not_of(" \n") + 1);
    if (fs::is_directory(snapshot)) found.push_back({*step, snapshot});
  }
  return found;
}

fs::path newest_lightning_version(const fs::path& folder) {
  std::int64_t newest = -1;
  std::error_code ignored;
  const fs::path logs = folder / "lightning_logs";
  for (const fs::directory_entry& entry : fs::directory_iterator(logs, ignored)) {
    newest =
        std::max(newest, number_after(entry.path().filename().string(), "version").value_or(-1));
  }
  return logs / ("version_" + std::to_string(newest)) / "checkpoints";
}

}  // namespace

std::optional<std::int64_t> step_in_name(std::string_view name) {
  std::string low(name);
  std::transform(low.begin(), low.end(), low.begin(),
                 [](unsigned char sign) { return static_cast<char>(std::tolower(sign)); });
  for (const char* const word : {"step", "checkpoint", "ckpt", "iteration", "iter", "epoch"}) {
    if (const auto number = number_after(low, word)) return number;
  }
  return {};
}

std::vector<SeriesModel> checkpoint_series(const fs::path& folder) {
  std::vector<SeriesModel> found = checkpoints_so_far(folder);
  if (found.empty()) {
    throw Error(ErrorKind::usage, "there are no checkpoints named after steps in the folder")
        .in_file(folder)
        .expected("step-000128.h5, epoch=3-step=1200.ckpt, checkpoint-500, step1000, …");
  }
  return found;
}

std::vector<SeriesModel> checkpoints_so_far(const fs::path& folder) {
  std::vector<SeriesModel> found = models_among(folder);
  if (found.empty()) found = models_among(folder / "checkpoints");
  if (found.empty()) found = models_among(newest_lightning_version(folder));
  if (found.empty()) found = revisions_in(folder);
  std::sort(found.begin(), found.end(), [](const SeriesModel& a, const SeriesModel& b) {
    return a.step != b.step ? a.step < b.step : a.file < b.file;
  });
  const auto twice = std::adjacent_find(
      found.begin(), found.end(),
      [](const SeriesModel& a, const SeriesModel& b) { return a.step == b.step; });
  if (twice != found.end()) {
    throw Error(ErrorKind::usage, "two checkpoints in the folder have the same step")
        .in_file(folder)
        .about("step " + std::to_string(twice->step))
        .found(twice->file.filename().string() + ", " + std::next(twice)->file.filename().string())
        .remedy("move one of them away");
  }
  return found;
}

}  // namespace attnscope
