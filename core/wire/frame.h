// Frames, in which programs send messages to the window (docs/protocol.md): a prefix of 16 bytes, a
// JSON header, and the bytes of arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/checkpoint/checkpoint.h"

namespace attnscope {

/// Limits of one frame, in bytes.
struct FrameLimits {
  std::uint64_t header = std::uint64_t{1} << 20;
  std::uint64_t arrays = std::uint64_t{1} << 30;  ///< all arrays together
};

struct Frame {
  nlohmann::json header;             ///< an object
  std::vector<StoredTensor> arrays;  ///< in the header's order; their views keep the bytes alive
};

/// Collects the bytes of untrusted frames, one frame after the other. It is not used any more after
/// it has thrown.
class FrameReader {
 public:
  explicit FrameReader(const FrameLimits& limits = {});

  /// The memory for the bytes that come next, which the caller writes from its beginning. Memory
  /// for arrays is allocated by the first call after the header, and may throw std::bad_alloc.
  [[nodiscard]] std::span<std::byte> wanted();
  /// Counts `count` bytes of wanted() as written. True if the frame is complete. Throws
  /// Error(not_this_format) for bytes that are no frame, and Error(damaged, unsupported) for a
  /// frame that exceeds the limits, whose header is invalid, or whose arrays do not fit their
  /// bytes.
  [[nodiscard]] bool advance(std::size_t count);
  /// The complete frame. The next one follows.
  [[nodiscard]] Frame take();

  /// Bytes of the arrays of this frame; 0 before its header is read.
  [[nodiscard]] std::uint64_t array_bytes() const { return array_bytes_; }

 private:
  enum class Part { prefix, header, arrays };
  void read_prefix();
  void read_header();

  FrameLimits limits_;
  Part part_ = Part::prefix;
  std::vector<std::byte> text_;         ///< the prefix, then the header
  std::shared_ptr<std::byte[]> bytes_;  ///< the arrays; uninitialised where nothing was written yet
  std::uint64_t stated_ = 0;            ///< bytes of arrays by the prefix
  std::uint64_t array_bytes_ = 0;
  std::uint64_t filled_ = 0;  ///< bytes of the present part that are written
  Frame frame_;
};

/// The prefix and the header of a frame whose arrays follow, `array_bytes` long.
[[nodiscard]] std::string frame_head(const nlohmann::json& header, std::uint64_t array_bytes);

/// The bytes of a frame. `arrays` are the elements of header["arrays"], one array after the other.
[[nodiscard]] std::string frame_bytes(const nlohmann::json& header, std::string_view arrays = {});

}  // namespace attnscope
