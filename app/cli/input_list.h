// The inputs that a command runs on, one after another.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/standard_streams.h"
#include "core/input/data_set.h"
#include "core/input/item_choice.h"

namespace attnscope {

/// The requested inputs, opened one at a time, because a data set's traces need not fit in memory.
class InputList {
 public:
  /// `data_set`: path of a data set; empty: none.
  InputList(std::vector<std::string> locators, const std::string& data_set,
            const ItemChoice& choice)
      : locators_(std::move(locators)) {
    if (data_set.empty()) return;
    data_set_ = open_data_set(data_set);
    items_ = chosen_items(data_set_->size(), choice);
    words_ = choice_in_words(data_set_->size(), choice, "items") + " of " + data_set;
  }

  [[nodiscard]] std::int64_t size() const { return std::ssize(locators_) + std::ssize(items_); }
  [[nodiscard]] Input open(std::int64_t index) const {
    const auto given = static_cast<std::int64_t>(locators_.size());
    return index < given ? open_input_argument(locators_[static_cast<std::size_t>(index)])
                         : data_set_->item(items_[static_cast<std::size_t>(index - given)]);
  }

  /// The chosen items of the data set: "16 of 10000 items, …"; empty without a data set.
  [[nodiscard]] const std::string& words() const { return words_; }

 private:
  std::vector<std::string> locators_;
  std::shared_ptr<const DataSet> data_set_;
  std::vector<std::int64_t> items_;  ///< indices in the data set
  std::string words_;
};

}  // namespace attnscope
