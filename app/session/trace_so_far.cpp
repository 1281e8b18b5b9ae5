#include "app/session/trace_so_far.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace attnscope {

namespace {

using namespace std::chrono_literals;

constexpr auto kAtOnce = 120ms;      // runs shorter than this show only their final trace
constexpr auto kBetween = 250ms;     // minimum time between two copies
constexpr int kTimesOfCopying = 10;  // minimum time as a multiple of the last copy's duration
constexpr std::int64_t kMostCopied = std::int64_t{1} << 30;  // bytes of maps

}  // namespace

TraceSoFar::TraceSoFar(std::int64_t most_map_bytes, Deliver deliver)
    : most_map_bytes_(most_map_bytes),
      deliver_(std::move(deliver)),
      next_(Clock::now() + kAtOnce) {}

void TraceSoFar::take(const Trace& trace, std::int64_t layer) {
  const LayerTrace& recorded = trace.layers[static_cast<std::size_t>(layer)];
  bytes_ += recorded.implied_map.bytes();
  if (bytes_ > most_map_bytes_) {
    throw Error(ErrorKind::usage, "the maps of all layers are too large to keep")
        .expected("at most " + std::to_string(most_map_bytes_ >> 30) + " GiB")
        .found("more, in the first " + std::to_string(layer + 1) + " of " +
               std::to_string(trace.layers.size()) + " layers")
        .remedy("take a smaller input, or write single layers with attnscope trace --layers");
  }
  const bool is_last = layer + 1 == std::ssize(trace.layers);
  if (is_last || bytes_ > kMostCopied || Clock::now() < next_) return;
  const Clock::time_point begun = Clock::now();
  auto copy = std::make_shared<const Trace>(trace);
  const Clock::time_point ended = Clock::now();
  next_ = ended + std::max<Clock::duration>(kBetween, kTimesOfCopying * (ended - begun));
  deliver_(std::move(copy), layer + 1);
}

}  // namespace attnscope
