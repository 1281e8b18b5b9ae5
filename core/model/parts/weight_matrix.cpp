#include "core/model/parts/weight_matrix.h"

#include <algorithm>
#include <utility>

#include "core/platform/file_mapping.h"

namespace attnscope {

WeightMatrix::WeightMatrix(Tensor values)
    : values_(std::make_shared<const Tensor>(std::move(values))) {}

WeightMatrix::WeightMatrix(TensorView stored) : stored_(std::move(stored)) {}

std::int64_t WeightMatrix::rows() const {
  if (!stored_) return values_ && values_->rank() == 2 ? values_->extent(0) : 0;
  return order_.empty() ? stored_->rows() : std::ssize(order_);
}

std::int64_t WeightMatrix::columns() const {
  if (!stored_) return values_ && values_->rank() == 2 ? values_->extent(1) : 0;
  return stored_->columns();
}

const float* WeightMatrix::read(std::int64_t first, std::int64_t count,
                                std::vector<float>& room) const {
  const std::int64_t width = columns();
  if (!stored_) return values_ ? values_->data() + first * width : nullptr;
  room.resize(static_cast<std::size_t>(count * width));
  for_runs(first, count, [&](std::int64_t from, std::int64_t run, std::int64_t done) {
    stored_->rows_to_float(from, from + run, room.data() + done * width);
  });
  return room.data();
}

template <class Use>
void WeightMatrix::for_runs(std::int64_t first, std::int64_t count, const Use& use) const {
  if (order_.empty()) return use(first, count, 0);
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t from = order_[static_cast<std::size_t>(first + done)];
    std::int64_t run = 1;
    while (done + run < count &&
           order_[static_cast<std::size_t>(first + done + run)] == from + run) {
      ++run;
    }
    use(from, run, done);
    done += run;
  }
}

void WeightMatrix::multiply_row(std::int64_t first, std::int64_t count, const float* x,
                                float* out) const {
  const BlockLayout& layout = *stored_->blocks;
  const std::int64_t per_row = columns() / layout.elements;
  for_runs(first, count, [&](std::int64_t from, std::int64_t run, std::int64_t done) {
    multiply_rows(layout, stored_->data + from * per_row * layout.bytes, run, per_row, x,
                  out + done);
  });
}

void WeightMatrix::check_file() const {
  if (stored_) check_unchanged(stored_->data);
}

void WeightMatrix::release_pages() const {
  // Small matrices are kept, because they are read again soon and releasing them only costs time.
  constexpr std::int64_t kSmall = std::int64_t{1} << 18;  // elements
  if (stored_ && rows() * columns() >= kSmall) attnscope::release_pages(*stored_);
}

WeightMatrix WeightMatrix::with_rows(std::vector<std::int64_t> rows) const {
  if (stored_) {
    WeightMatrix taken(*stored_);
    if (!order_.empty()) {
      for (std::int64_t& row : rows) row = order_[static_cast<std::size_t>(row)];
    }
    taken.order_ = std::move(rows);
    return taken;
  }
  Tensor taken = Tensor::unfilled({std::ssize(rows), columns()});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    taken.matrix().row(static_cast<std::int64_t>(i)) = values_->matrix().row(rows[i]);
  }
  return taken;
}

}  // namespace attnscope
