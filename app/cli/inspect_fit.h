// The command attnscope inspect MODEL --fit.
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

/// Finds, prints and describes the choices under which the model agrees with the reference next to
/// it. Returns 1 if no choice fits. Throws Error; without a reference, its text shows how to make
/// one.
int inspect_fit(const FitArguments& arguments);

}  // namespace attnscope
