#include "analysis/sweep/sweep.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>

#include "analysis/spectrum/map_batch.h"
#include "analysis/sweep/input_block.h"
#include "analysis/sweep/result_file.h"
#include "analysis/sweep/sweep_fingerprint.h"
#include "core/error.h"
#include "core/file/atomic_file.h"

namespace attnscope {

namespace {

// Number of inputs between two points at which the work can be resumed. Does not affect results.
constexpr std::int64_t kItemBlock = 16;

void check_sweep(const SweepRequest& request) {
  const auto refuse = [](const char* what) { throw Error(ErrorKind::usage, what); };
  if (request.subjects.empty()) refuse("no model was given to sweep");
  for (const Subject& subject : request.subjects) {
    if (subject.model != nullptr) continue;
    throw Error(ErrorKind::usage, "a trace cannot be run on a data set")
        .about(subject.label)
        .remedy("give the weight file");
  }
  if (request.data_set == nullptr) refuse("no data set was given to sweep over");
  if (request.thresholds.empty() || request.views.empty())
    refuse("a sweep needs at least one threshold and one view");
  for (const double threshold : request.thresholds) check_threshold(threshold);
  check_numbers(request.numbers);
  if (request.first < 0 || request.end < 0 || request.items() <= 0) {
    throw Error(ErrorKind::usage, "the data set has no such inputs")
        .in_file(request.data_set_path)
        .expected("0 to " + std::to_string(request.data_set->size() - 1))
        .found(std::to_string(request.first) +
               (request.end != 0 ? " to before " + std::to_string(request.end) : ""));
  }
}

/// The result at `out` if it is this request's; empty if there is no file. Results of other sweeps
/// and other files are not replaced unless `restart` is set.
std::optional<SweepResult> finished_before(const SweepRequest& request) {
  std::error_code ignored;
  if (request.restart || !std::filesystem::is_regular_file(request.out, ignored)) {
    return std::nullopt;
  }
  const auto refusal = [&](const char* what) {
    return Error(ErrorKind::usage, what)
        .in_file(request.out)
        .remedy("write elsewhere, or replace it (--restart, \"Start over\")");
  };
  SweepResult found;
  try {
    found = read_sweep(request.out);
  } catch (const Error&) {
    throw refusal("the output file exists and is not a sweep");
  }
  const std::string difference =
      fingerprint_difference(found.fingerprint, sweep_fingerprint(request));
  if (!difference.empty()) {
    throw refusal("the result of another sweep is already there")
        .found("a difference in " + difference);
  }
  if (found.done != found.count) throw refusal("an unfinished result is already there");
  return found;
}

SweepResult begin(const SweepRequest& request) {
  SweepResult result;
  result.data_set = request.data_set_path;
  result.fingerprint = sweep_fingerprint(request);
  result.first = request.first;
  result.count = chosen_count(request.items(), request.choice);
  result.items = request.items();
  result.seed = request.choice.seed;
  result.thresholds = request.thresholds;
  result.share = request.share;
  result.numbers = request.numbers;
  const std::filesystem::path unfinished = sweep_checkpoint(request.out);
  std::error_code ignored;
  if (!request.restart && std::filesystem::exists(unfinished, ignored)) {
    SweepResult found = read_sweep(unfinished);
    const std::string difference = fingerprint_difference(found.fingerprint, result.fingerprint);
    if (difference.empty()) return found;
    throw Error(ErrorKind::usage, "unfinished work of another sweep is next to the result")
        .in_file(unfinished)
        .found("a difference in " + difference)
        .remedy(
            "finish that one first, write elsewhere, or discard it (--restart, \"Start over\")");
  }
  for (const Subject& subject : request.subjects) {
    for (std::size_t view = 0; view < request.views.size(); ++view) {
      SweepSeries series;
      series.label = subject.label;
      series.model = subject.model->file().string();
      series.mechanism = to_string(subject.mechanism);
      const ModelStatus status = subject.model->status();
      if (status.is_doubtful()) series.status = in_words(status);
      result.series.push_back(std::move(series));
    }
  }
  return result;
}

}  // namespace

std::filesystem::path sweep_checkpoint(const std::filesystem::path& out) {
  std::filesystem::path unfinished = out;
  unfinished += ".unfinished";
  return unfinished;
}

SweepResult run_sweep_by(const SweepRequest& request, const NextInputs& next,
                         const Progress& progress, const SweepAdvanced& advanced) {
  using Clock = std::chrono::steady_clock;
  check_sweep(request);
  // Fails before hours of work if the folder is missing or cannot be written.
  const std::filesystem::path unfinished = sweep_checkpoint(request.out);
  { const AtomicFile writable(request.out), checkpoint(unfinished); }
  if (const std::optional<SweepResult> found = finished_before(request)) {
    remove_leftover(unfinished, found->fingerprint,
                    [](const auto& file) { return read_sweep(file).fingerprint; });
    return *found;
  }
  SweepResult result = begin(request);
  std::int64_t kept = result.done;
  Clock::time_point last = Clock::now();
  const auto keep = [&] {
    if (kept == result.done) return;
    write_sweep(unfinished, result);
    kept = result.done;
    last = Clock::now();
    if (advanced) advanced(result);
  };
  while (result.done < result.count) {
    try {
      add_inputs(result, next(result));
      if (progress.cancelled()) throw Cancelled{};
    } catch (const Cancelled&) {
      keep();
      throw;
    }
    const std::chrono::duration<double> since = Clock::now() - last;
    if (since.count() >= request.checkpoint_seconds && result.done < result.count) keep();
  }
  write_sweep(request.out, result);
  std::error_code ignored;
  std::filesystem::remove(unfinished, ignored);
  if (advanced) advanced(result);
  return result;
}

std::int64_t SweepRequest::items() const {
  const std::int64_t size = data_set->size();
  return (end > 0 ? std::min(end, size) : size) - first;
}

std::vector<std::int64_t> swept_items(const SweepRequest& request) {
  return chosen_items(request.items(), request.choice);
}

void report_inputs(const Progress& progress, std::int64_t done, std::int64_t begun,
                   std::int64_t count) {
  progress.step(static_cast<double>(done - begun) / static_cast<double>(count - begun),
                std::to_string(done) + " of " + std::to_string(count) + " inputs");
}

SweepResult run_sweep(const SweepRequest& request, const Progress& progress,
                      const SweepAdvanced& advanced) {
  std::vector<std::int64_t> items;
  std::int64_t begun = 0;
  const auto next = [&](const SweepResult& so_far) {
    if (items.empty()) {
      items = swept_items(request);
      begun = so_far.done;
    }
    const std::int64_t size = std::min(kItemBlock, so_far.count - so_far.done);
    return run_inputs(request,
                      std::span(items).subspan(static_cast<std::size_t>(so_far.done),
                                               static_cast<std::size_t>(size)),
                      [&](std::int64_t done) {
                        report_inputs(progress, so_far.done + done, begun, so_far.count);
                      });
  };
  return run_sweep_by(request, next, progress, advanced);
}

}  // namespace attnscope
