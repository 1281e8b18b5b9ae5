// attnscope inspect MODEL --fit.
#pragma once

#include <string>

#include "core/architecture/model_options.h"

namespace attnscope {

struct FitArguments {
  std::filesystem::path file;
  ModelOptions options;
  std::string out;  ///< the description to write; empty: none
  bool json = false;
};

/// Finds the choices that a reference beside the model tells, prints and describes them. Returns 1
/// where none fits. Throws Error; where there is no reference, one with the lines that make it.
int inspect_fit(const FitArguments& arguments);

}  // namespace attnscope
