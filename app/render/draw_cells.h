// Cells onto a painter: as vectors, as one pixel each, or for a screen.
#pragma once

#include <QRectF>

#include "analysis/figure/cells.h"

class QPainter;

namespace attnscope {

/// Vectors: every run of equal cells is an area of its exact size, laid over areas that reach a
/// little under their neighbours, so that nothing shines between.
void draw_as_areas(QPainter& painter, const Cells& cells, const QRectF& frame);

/// An image of exactly one pixel a cell, not smoothed.
void draw_as_pixels(QPainter& painter, const Cells& cells, const QRectF& frame);

/// For pixel devices: every pixel the mean of what it covers, so that maps finer than the screen
/// show no moiré and coarser ones keep sharp edges.
void draw_resampled(QPainter& painter, const Cells& cells, const QRectF& frame);

}  // namespace attnscope
