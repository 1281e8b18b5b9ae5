// What the processes of a sweep tell each other.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/sweep/input_block.h"
#include "analysis/sweep/process_team.h"
#include "core/error.h"

namespace attnscope {

/// From the first process: begin there, or end.
struct TeamOrder {
  bool end = false;
  std::int64_t done = 0;    ///< inputs that an earlier run did
  std::string fingerprint;  ///< of what the first process sweeps
};

/// From another one. After anything but `inputs` comes `ended`, and nothing after that.
struct TeamReport {
  enum class Kind : std::uint8_t { inputs, failed, cancelled, ended };
  Kind kind = Kind::ended;
  InputBlock inputs;
  Error failure = Error(ErrorKind::usage, "");
};

[[nodiscard]] ProcessTeam::Message encoded(const TeamOrder& order);
[[nodiscard]] ProcessTeam::Message encoded(const TeamReport& report);
[[nodiscard]] TeamOrder decoded_order(const ProcessTeam::Message& message);
[[nodiscard]] TeamReport decoded_report(const ProcessTeam::Message& message);

}  // namespace attnscope
