// Locations of the sample models and inputs, and the first minute with them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace attnscope {

class Session;

/// The folder `sample_data`: the value of ATTNSCOPE_SAMPLE_DATA, else the folder next to the
/// installed program (../share/attnscope/sample_data), else the one in the source tree above the
/// binary. Empty if none of them exists.
[[nodiscard]] std::filesystem::path sample_data_folder();

/// The two models of the first minute, softmax first; missing ones are left out.
[[nodiscard]] std::vector<std::filesystem::path> first_minute_models();

/// All sample models, files and folders, sorted by name.
[[nodiscard]] std::vector<std::filesystem::path> sample_models();

/// The sample images and texts, sorted by name; the first is the image of the first minute.
[[nodiscard]] std::vector<std::filesystem::path> sample_inputs();

/// The locator of a sample input that the sample model reads; empty if there is none. A folder may
/// hold a question of its own: question.png and question.txt.
[[nodiscard]] std::string sample_input_for(const std::filesystem::path& model);

/// Opens the two models of the first minute, on its image if no input was chosen. Returns false and
/// opens nothing if they are missing.
bool open_first_minute(Session& session);

}  // namespace attnscope
