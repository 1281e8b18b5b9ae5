#include "analysis/sweep/team_sweep.h"

#include <algorithm>
#include <atomic>
#include <cereal/archives/binary.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <thread>

#include "analysis/sweep/input_block.h"
#include "analysis/sweep/process_team.h"
#include "analysis/sweep/sweep_fingerprint.h"
#include "core/error.h"
#include "core/text/failure.h"

namespace attnscope {

/// Message from the first process: begin at `done`, or end.
struct TeamOrder {
  bool end = false;
  std::int64_t done = 0;    ///< number of inputs done by an earlier run
  std::string fingerprint;  ///< fingerprint of the first process's sweep
};

/// Message from another process. After any kind but `inputs` comes `ended`, and nothing after that.
struct TeamReport {
  enum class Kind : std::uint8_t { inputs, failed, cancelled, ended };
  Kind kind = Kind::ended;
  InputBlock inputs;
  Error failure = Error(ErrorKind::usage, "");
};

// cereal finds these functions by the namespace of their arguments.

template <class Archive>
void serialize(Archive& archive, MapRecord& map) {
  archive(map.ready, map.share, map.ranks, map.effective_rank, map.stable_rank, map.null_share_sums,
          map.null_share_squares);
}

template <class Archive>
void serialize(Archive& archive, LayerRecord& layer) {
  archive(layer.heads, layer.values, layer.maps, layer.statistics);
}

template <class Archive>
void serialize(Archive& archive, SeriesRecord& series) {
  archive(series.label, series.identity, series.correct, series.layers);
}

template <class Archive>
void serialize(Archive& archive, InputBlock& block) {
  archive(block.labels, block.records);
}

template <class Archive>
void serialize(Archive& archive, TeamOrder& order) {
  archive(order.end, order.done, order.fingerprint);
}

template <class Archive>
void save(Archive& archive, const Error& error) {
  archive(error.kind(), error.message(), error.file().string(), error.subject(),
          error.expected_text(), error.found_text(), error.remedy_text());
}

template <class Archive>
void load(Archive& archive, Error& error) {
  ErrorKind kind{};
  std::string message, file, subject, expected, found, remedy;
  archive(kind, message, file, subject, expected, found, remedy);
  error = Error(kind, message)
              .in_file(file)
              .about(subject)
              .expected(expected)
              .found(found)
              .remedy(remedy);
}

template <class Archive>
void serialize(Archive& archive, TeamReport& report) {
  archive(report.kind, report.inputs, report.failure);
}

namespace {

template <class What>
ProcessTeam::Message bytes_of(const What& what) {
  std::ostringstream stream;
  cereal::BinaryOutputArchive{stream}(what);
  const std::string text = stream.str();
  const auto* const first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

template <class What>
What from_bytes(const ProcessTeam::Message& message) {
  std::istringstream stream(
      std::string(reinterpret_cast<const char*>(message.data()), message.size()));
  What what;
  cereal::BinaryInputArchive{stream}(what);
  return what;
}

constexpr int kLeader = 0;

void wait_a_little() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

/// Blocks of a team's inputs after those of an earlier run; identical in every process.
class DealtInputs {
 public:
  DealtInputs(const SweepRequest& request, std::int64_t done, int team)
      : items_(swept_items(request)),
        done_(done),
        size_(team_block_size(std::ssize(items_) - done, team)) {}

  [[nodiscard]] std::int64_t blocks() const {
    return (std::ssize(items_) - done_ + size_ - 1) / size_;
  }
  [[nodiscard]] std::span<const std::int64_t> block(std::int64_t index) const {
    const auto first = static_cast<std::size_t>(done_ + index * size_);
    return std::span(items_).subspan(
        first, std::min(static_cast<std::size_t>(size_), items_.size() - first));
  }

 private:
  std::vector<std::int64_t> items_;
  std::int64_t done_, size_;
};

/// Inputs of the first process: computes its own blocks, receives those of the others.
class LedInputs {
 public:
  LedInputs(ProcessTeam& team, const SweepRequest& request, const Progress& progress)
      : team_(team), request_(request), progress_(progress) {}

  InputBlock next(const SweepResult& so_far) {
    if (!dealt_) begin(so_far);
    if (stopped_) throw Cancelled{};
    const std::span<const std::int64_t> items = dealt_->block(block_);
    const int owner = owner_of_block(block_++, team_.size());
    InputBlock inputs = owner == kLeader ? compute(so_far, items) : received(owner, so_far);
    // Inputs after a gap must not be added.
    stopped_ = inputs.records.size() < items.size();
    return inputs;
  }

 private:
  void begin(const SweepResult& so_far) {
    dealt_.emplace(request_, so_far.done, team_.size());
    begun_ = so_far.done;
    for (int rank = 1; rank < team_.size(); ++rank) {
      team_.send(rank, bytes_of(TeamOrder{false, so_far.done, so_far.fingerprint}));
    }
  }

  [[nodiscard]] InputBlock compute(const SweepResult& so_far,
                                   std::span<const std::int64_t> items) const {
    return run_inputs(request_, items, [&](std::int64_t done) {
      report_inputs(progress_, so_far.done + done, begun_, so_far.count);
    });
  }

  [[nodiscard]] InputBlock received(int rank, const SweepResult& so_far) const {
    for (;; wait_a_little()) {
      report_inputs(progress_, so_far.done, begun_, so_far.count);
      const std::optional<ProcessTeam::Message> message = team_.receive(rank);
      if (!message) continue;
      TeamReport report = from_bytes<TeamReport>(*message);
      switch (report.kind) {
        case TeamReport::Kind::inputs:
          return std::move(report.inputs);
        case TeamReport::Kind::failed:
          throw report.failure;
        case TeamReport::Kind::cancelled:
        case TeamReport::Kind::ended:
          throw Cancelled{};
      }
    }
  }

  ProcessTeam& team_;
  const SweepRequest& request_;
  const Progress& progress_;
  std::optional<DealtInputs> dealt_;
  std::int64_t block_ = 0, begun_ = 0;
  bool stopped_ = false;  ///< a process was cancelled within a block
};

void report(ProcessTeam& team, TeamReport::Kind kind) {
  TeamReport message;
  message.kind = kind;
  team.send(kLeader, bytes_of(message));
}

/// Sends the last message of a process; returns when all its messages are delivered.
void end_assistance(ProcessTeam& team) {
  report(team, TeamReport::Kind::ended);
  while (team.under_way() > 0) wait_a_little();
}

void compute_share(ProcessTeam& team, const SweepRequest& request, std::int64_t done,
                   const Progress& progress) {
  const DealtInputs dealt(request, done, team.size());
  const std::thread::id mine = std::this_thread::get_id();
  std::atomic<bool> dismissed = false;
  const auto ask = [&] { dismissed = dismissed || team.receive(kLeader).has_value(); };
  const auto begin_input = [&](std::int64_t) {
    if (std::this_thread::get_id() == mine) ask();
    if (dismissed || progress.cancelled()) throw Cancelled{};
  };
  for (std::int64_t block = team.rank(); block < dealt.blocks(); block += team.size()) {
    TeamReport message;
    message.kind = TeamReport::Kind::inputs;
    message.inputs = run_inputs(request, dealt.block(block), begin_input);
    if (dismissed) return;
    team.send(kLeader, bytes_of(message));
    while (team.under_way() > kBlocksAhead && !dismissed && !progress.cancelled()) {
      wait_a_little();
      ask();
    }
    if (progress.cancelled()) report(team, TeamReport::Kind::cancelled);
    if (dismissed || progress.cancelled()) return;
  }
}

}  // namespace

std::int64_t team_block_size(std::int64_t count, int size) {
  constexpr std::int64_t kMost = 16, kBlocksEach = 8;
  return std::clamp<std::int64_t>(count / (kBlocksEach * size), 1, kMost);
}

SweepResult lead_sweep(ProcessTeam& team, const SweepRequest& request, const Progress& progress,
                       const SweepAdvanced& advanced) {
  LedInputs inputs(team, request, progress);
  try {
    SweepResult result = run_sweep_by(
        request, [&](const SweepResult& so_far) { return inputs.next(so_far); }, progress,
        advanced);
    dismiss_team(team);
    return result;
  } catch (...) {
    dismiss_team(team);
    throw;
  }
}

void assist_sweep(ProcessTeam& team, const SweepRequest& request, const Progress& progress) {
  std::optional<ProcessTeam::Message> message;
  while (!(message = team.receive(kLeader)) && !progress.cancelled()) wait_a_little();
  if (!message) {
    report(team, TeamReport::Kind::cancelled);
    end_assistance(team);
    return;
  }
  const TeamOrder order = from_bytes<TeamOrder>(*message);
  try {
    if (!order.end) {
      const std::string difference =
          fingerprint_difference(order.fingerprint, sweep_fingerprint(request));
      if (!difference.empty()) {
        throw Error(ErrorKind::usage, "the processes run different sweeps")
            .found("a difference in " + difference)
            .remedy("give all machines the same files and the same version of the program");
      }
      compute_share(team, request, order.done, progress);
    }
    end_assistance(team);
  } catch (const std::exception& why) {
    refuse_to_assist(team, why);
  }
}

void refuse_to_assist(ProcessTeam& team, const std::exception& why) {
  const Error failure = as_error(why);
  TeamReport message;
  message.kind = TeamReport::Kind::failed;
  message.failure =
      Error(failure.kind(), "process " + std::to_string(team.rank()) + ": " + failure.message())
          .in_file(failure.file())
          .about(failure.subject())
          .expected(failure.expected_text())
          .found(failure.found_text())
          .remedy(failure.remedy_text());
  team.send(kLeader, bytes_of(message));
  end_assistance(team);
}

void dismiss_team(ProcessTeam& team) {
  for (int rank = 1; rank < team.size(); ++rank) team.send(rank, bytes_of(TeamOrder{true, 0, {}}));
  for (int rank = 1; rank < team.size(); ++rank) {
    for (bool ended = false; !ended;) {
      const std::optional<ProcessTeam::Message> message = team.receive(rank);
      ended = message && from_bytes<TeamReport>(*message).kind == TeamReport::Kind::ended;
      if (!message) wait_a_little();
    }
  }
}

}  // namespace attnscope
