#include "app/session/subject_run.h"

#include <utility>

#include "app/session/replaced_heads.h"
#include "app/session/trace_so_far.h"
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
    end.error = error.what();
  }
  return end;
}

}  // namespace attnscope
