// What the program's own kernels take: time and memory, measured on this machine when asked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/parameters/parameters.h"
#include "core/progress.h"

namespace attnscope {

struct MeasurementOptions {
  std::vector<MechanismChoice> mechanisms;  ///< of mechanisms(): those the program can run
  std::vector<std::int64_t> tokens;         ///< N, ascending, each 1 to 65,536
  std::int64_t width = 384;                 ///< D
  std::int64_t heads = 6;                   ///< H, divides D
};

/// One mechanism's forward at one N: the attention core of one layer, without projections.
struct KernelRun {
  std::int64_t tokens = 0;
  double seconds = 0;  ///< the least of `repeats`: what else the machine does only adds
  int repeats = 0;
  std::optional<std::int64_t> peak_bytes;  ///< beyond its inputs; see peak_memory.h
};

struct MeasuredKernel {
  MechanismChoice mechanism;
  std::vector<KernelRun> runs;  ///< in order of tokens; those before a problem arose
  std::string problem;          ///< why it has not all runs; empty if nothing is wrong
};

struct Measurement {
  MeasurementOptions options;
  std::vector<MeasuredKernel> kernels;  ///< in the order asked for
  int threads = 0;                      ///< that the kernels may use
  std::string processor;                ///< as the system names it; may be empty
};

/// Runs every mechanism on standard normal queries, keys and values that lie on a grid. A mechanism
/// that needs what only a trained model has gets a `problem`. Throws Error(usage) for extents out
/// of range, Cancelled through `progress`.
[[nodiscard]] Measurement measure_kernels(const MeasurementOptions& options,
                                          const Progress& progress = {});

/// p of "time grows as N^p" between the two largest N measured; absent with fewer than two.
[[nodiscard]] std::optional<double> measured_exponent(const MeasuredKernel& kernel);

}  // namespace attnscope
