#include "app/session/subject_run.h"

#include <algorithm>
#include <string>
#include <utility>

#include "app/session/what_if.h"
#include "core/error.h"
#include "core/input/input.h"

namespace attnscope {

namespace {

TraceRequest request_for(const SubjectRun& run) {
  TraceRequest request;
  request.tokens = true;   // needed by comparisons of representations, and rank over depth
  request.factors = true;  // needed by spectra of factored maps
  request.quantities = true;
  request.queries_keys_values = true;  // needed by the step-by-step view of a head
  request.large_maps = TraceRequest::LargeMaps::computed_alone;
  request.channel = run.channel;
  request.parameters = run.subject.parameters;
  return request;
}

std::shared_ptr<const Trace> run_as_is(const SubjectRun& run,
                                       const std::shared_ptr<const Input>& input,
                                       const LayersRecorded& layers_recorded,
                                       const Progress& progress) {
  TraceRequest request = request_for(run);
  TraceSoFar so_far(request.most_map_bytes,
                    [&](std::shared_ptr<const Trace> trace, std::int64_t layers) {
                      layers_recorded(input, std::move(trace), layers);
                    });
  if (run.by_layers) {
    request.layer_recorded = [&so_far](const Trace& trace, std::int64_t layer) {
      so_far.take(trace, layer);
    };
  }
  return std::make_shared<const Trace>(
      run.subject.model->run(*input, run.subject.mechanism, request, progress));
}

std::shared_ptr<const Trace> run_changed(const SubjectRun& run, const Input& input,
                                         const std::shared_ptr<const Trace>& unchanged,
                                         const Progress& progress) {
  TraceRequest request = request_for(run);
  request.factors = false;  // factors describe only unchanged maps
  request.change_map =
      map_change(run.what_if, unchanged, run.toward,
                 maps_in_place(run.what_if, run.subject, unchanged, progress.part(0, 0.5)));
  Trace trace =
      run.subject.model->run(input, run.subject.mechanism, request, progress.part(0.5, 1));
  mark_changed(run.what_if, run.toward.get(), trace);
  return std::make_shared<const Trace>(std::move(trace));
}

using namespace std::chrono_literals;

constexpr auto kAtOnce = 120ms;      // runs shorter than this show only their final trace
constexpr auto kBetween = 250ms;     // minimum time between two copies
constexpr int kTimesOfCopying = 10;  // minimum time as a multiple of the last copy's duration
constexpr std::int64_t kMostCopied = std::int64_t{1} << 30;  // bytes of maps

}  // namespace

RunEnd carry_out(const SubjectRun& run, const LayersRecorded& layers_recorded,
                 const Progress& progress) {
  RunEnd end;
  end.input =
      run.input ? run.input : std::make_shared<const Input>(open_input(run.subject.own_input));
  const double half = run.what_if.any() ? 0.5 : 1;
  const std::shared_ptr<const Trace> unchanged =
      run.unchanged ? run.unchanged
                    : run_as_is(run, end.input, layers_recorded, progress.part(0, half));
  end.trace = unchanged;
  if (!run.what_if.any()) return end;
  try {
    end.trace = run_changed(run, *end.input, unchanged, progress.part(half, 1));
    end.state = RunEnd::State::changed;
    end.ran_with = run.what_if;
    end.unchanged = unchanged;
  } catch (const Error& error) {
    end.state = RunEnd::State::refused;
    end.error = error.in_window();
  }
  return end;
}

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
