// Names of the classes of well-known data sets, for heads whose files do not give them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

/// File of assets/classes.
struct ClassNameList {
  std::string_view data_set;  ///< "CIFAR-10"
  std::string_view text;      ///< a name a line, in the order of the data set's labels
};

/// ImageNet-1k's names (ILSVRC 2012) are in the order of their WordNet numbers, by the first lemma
/// in WordNet 3.0; CIFAR-100's are those of its fine labels.
[[nodiscard]] std::span<const ClassNameList> class_name_lists();

/// Names of the data set's classes, one per class. `data_set` may be in capitals or not:
/// "cifar-10". Empty if there is no list of that name.
[[nodiscard]] std::vector<std::string> class_names_of(std::string_view data_set);

/// Names that the model option "labels" refers to: those of a data set, or of "@PATH", a text file
/// with a name a line or a folder with a folder per class, sorted as torchvision's ImageFolder
/// does. Empty for an option that holds the names itself. Throws the errors of read_file, and
/// Error(damaged) for a file or folder without names.
[[nodiscard]] std::vector<std::string> names_referred_to(const std::string& labels);

}  // namespace attnscope
