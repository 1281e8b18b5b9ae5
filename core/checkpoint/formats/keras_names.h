// The names of Keras's weights: model.weights.h5 numbers layers by their classes ("dense_3") and
// variables by their order, config.json has the names that users gave the layers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

/// Each path "layers/dense_3/vars/0" as "blocks_0_mlp/kernel", where `config` (JSON, of a
/// Functional or Sequential model) lists the layer: by its name, within models by theirs, and by
/// the variable's where its class is known. All paths unchanged where two would be called alike.
/// keras/src/saving/saving_lib.py.
[[nodiscard]] std::vector<std::string> keras_names(const std::vector<std::string>& paths,
                                                   std::string_view config);

}  // namespace attnscope
