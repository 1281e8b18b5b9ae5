// Messages between the processes of a sweep.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/sweep/input_block.h"
#include "analysis/sweep/process_team.h"
#include "core/error.h"

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

[[nodiscard]] ProcessTeam::Message encoded(const TeamOrder& order);
[[nodiscard]] ProcessTeam::Message encoded(const TeamReport& report);
[[nodiscard]] TeamOrder decoded_order(const ProcessTeam::Message& message);
[[nodiscard]] TeamReport decoded_report(const ProcessTeam::Message& message);

}  // namespace attnscope
