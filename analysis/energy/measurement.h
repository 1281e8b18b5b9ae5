// Measures time and memory of the program's own kernels on this machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/parameters/parameters.h"
#include "core/progress.h"

namespace attnscope {

struct MeasurementOptions {
  std::vector<MechanismChoice> mechanisms;  ///< entries of mechanisms() that the program can run
  std::vector<std::int64_t> tokens;         ///< N, ascending, each 1 to 65,536
  std::int64_t width = 384;                 ///< D
  std::int64_t heads = 6;                   ///< H, divides D
};

/// The forward pass of one mechanism at one N: the attention core of one layer, without
/// projections.
struct KernelRun {
  std::int64_t tokens = 0;
  double seconds = 0;  ///< minimum over `repeats`: other load only adds time
  int repeats = 0;
  std::optional<std::int64_t> peak_bytes;  ///< peak memory beyond the inputs; see process_memory.h
};

struct MeasuredKernel {
  MechanismChoice mechanism;
  std::vector<KernelRun> runs;  ///< ordered by tokens; those before a problem arose
  std::string problem;          ///< why runs are missing; empty if none are
};

struct Measurement {
  MeasurementOptions options;
  std::vector<MeasuredKernel> kernels;  ///< one per mechanism, in the requested order
  int threads = 0;                      ///< maximum number of threads of the kernels
  std::string processor;                ///< name given by the system; may be empty
};

/// Runs every mechanism on standard normal queries, keys and values on a grid. A mechanism that
/// requires a trained model gets a `problem`. Throws Error(usage) for values out of range,
/// Cancelled through `progress`.
[[nodiscard]] Measurement measure_kernels(const MeasurementOptions& options,
                                          const Progress& progress = {});

/// Exponent p of "time grows as N^p": the slope of log seconds over log N, by least squares.
struct MeasuredExponent {
  double value = 0;
  double standard_error = 0;  ///< standard error of the slope, from the residuals
};

/// The exponent over all N measured; empty for fewer than three, of which the error is unknown.
[[nodiscard]] std::optional<MeasuredExponent> measured_exponent(const MeasuredKernel& kernel);

}  // namespace attnscope
