// Models and traces that a program without a window serves to another one (attnscope serve,
// docs/protocol.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/model/subject.h"
#include "core/trace/trace_contents.h"
#include "core/wire/frame.h"

namespace attnscope {

class ScratchFolder;

/// Answers one message after the other. Only files below its folders are read.
class ServedModels {
 public:
  /// Throws Error(io) for a folder that does not exist.
  explicit ServedModels(const std::vector<std::filesystem::path>& folders);
  ~ServedModels();

  struct Reply {
    nlohmann::json header;
    std::vector<TraceArray> arrays;  ///< each keeps its elements alive
  };
  /// The answer; an error of the message is an answer, too.
  [[nodiscard]] Reply handle(const Frame& message);

 private:
  [[nodiscard]] Reply carry_out(const Frame& message);
  [[nodiscard]] Reply list(const nlohmann::json& header) const;
  [[nodiscard]] Reply open(const nlohmann::json& header);
  [[nodiscard]] Reply run(const Frame& message);
  [[nodiscard]] Reply trace(const nlohmann::json& header) const;
  [[nodiscard]] Reply tile(const nlohmann::json& header) const;
  [[nodiscard]] Reply table(const nlohmann::json& header) const;
  [[nodiscard]] Reply close(const nlohmann::json& header);

  /// The path of the message if it is below a folder. Throws Error(usage) otherwise, before it
  /// tells whether such a file exists.
  [[nodiscard]] std::filesystem::path below(const std::string& path) const;
  [[nodiscard]] ModelOptions options(const nlohmann::json& header) const;
  [[nodiscard]] const Subject& subject(const nlohmann::json& header, bool with_trace) const;
  [[nodiscard]] std::shared_ptr<const Input> input(const Frame& message);
  [[nodiscard]] Reply added(Subject subject);

  std::vector<std::filesystem::path> folders_;
  std::map<std::int64_t, Subject> subjects_;  ///< by id: models without a trace, and traces
  std::int64_t last_id_ = 0;
  std::unique_ptr<ScratchFolder> scratch_;  ///< for the file of an input that was sent
};

}  // namespace attnscope
