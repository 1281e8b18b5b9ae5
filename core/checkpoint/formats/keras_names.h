// Names of Keras weights. model.weights.h5 numbers layers per class ("dense_3") and variables by
// order; config.json has the layers' user-given names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

/// Renames paths such as "layers/dense_3/vars/0" to "blocks_0_mlp/kernel" if `config` (JSON of a
/// Functional or Sequential model) lists the layer. A name consists of the nested models' names,
/// the layer's name, and the variable's name if the layer's class is known. All paths are unchanged
/// if two would get the same name. Source: keras/src/saving/saving_lib.py.
[[nodiscard]] std::vector<std::string> keras_names(const std::vector<std::string>& paths,
                                                   std::string_view config);

}  // namespace attnscope
