// Where the sample models and inputs lie, and the first minute with them.
#pragma once

#include <filesystem>
#include <vector>

namespace attnscope {

class Session;

/// The folder `sample_data`: what ATTNSCOPE_SAMPLE_DATA says, else beside the installed program
/// (../share/attnscope/sample_data), else in the source tree above the binary. Empty if there is
/// none.
[[nodiscard]] std::filesystem::path sample_data_folder();

/// The two models of the first minute, softmax first; only those that are there.
[[nodiscard]] std::vector<std::filesystem::path> first_minute_models();

/// Every sample model, by name.
[[nodiscard]] std::vector<std::filesystem::path> sample_models();

/// The sample images and texts, by name; the first is the image of the first minute.
[[nodiscard]] std::vector<std::filesystem::path> sample_inputs();

/// Opens the two models of the first minute, on its image if no input was chosen. False if they are
/// not there; then nothing is opened.
bool open_first_minute(Session& session);

}  // namespace attnscope
