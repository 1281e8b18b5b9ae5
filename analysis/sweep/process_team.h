// Processes that do one piece of work together, on one machine or many.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace attnscope {

/// Messages between `size()` processes. The first of them, rank 0, leads: the others write to it
/// alone, and it to them. Messages of one sender arrive in the order in which they were sent. Used
/// from one thread.
class ProcessTeam {
 public:
  using Message = std::vector<std::byte>;

  virtual ~ProcessTeam() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  /// Begins to send; does not wait for `to`.
  virtual void send(int to, Message message) = 0;
  /// How many of this process's messages are still under way.
  [[nodiscard]] virtual std::size_t under_way() = 0;
  /// The next message from `from`; nothing where none has come yet.
  [[nodiscard]] virtual std::optional<Message> receive(int from) = 0;
};

}  // namespace attnscope
