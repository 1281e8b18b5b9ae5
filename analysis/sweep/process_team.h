// Processes that share one computation, on one machine or several.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace attnscope {

/// Messages between `size()` processes. Rank 0 leads: the other processes exchange messages only
/// with it. Messages of one sender arrive in the order in which they were sent. Not thread-safe.
class ProcessTeam {
 public:
  using Message = std::vector<std::byte>;

  virtual ~ProcessTeam() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  /// Starts sending without waiting for the receiver `to`.
  virtual void send(int to, Message message) = 0;
  /// Number of messages of this process that are not delivered yet.
  [[nodiscard]] virtual std::size_t under_way() = 0;
  /// The next message from `from`; empty if none has arrived.
  [[nodiscard]] virtual std::optional<Message> receive(int from) = 0;
};

}  // namespace attnscope
