// Draws cells with a painter: as vector areas, as one pixel per cell, or resampled for a screen.
#pragma once

#include <QRectF>

#include "analysis/figure/cells.h"

class QPainter;

namespace attnscope {

/// Draws vectors: every run of equal cells is an area of its exact size over a slightly larger one
/// that extends under its neighbours, to leave no visible gaps.
void draw_as_areas(QPainter& painter, const Cells& cells, const QRectF& frame);

/// Draws an image with exactly one pixel per cell, without smoothing.
void draw_as_pixels(QPainter& painter, const Cells& cells, const QRectF& frame);

/// Draws for pixel devices: every pixel is the mean of the cells it covers. Maps finer than the
/// screen show no moiré, and coarser maps keep sharp edges.
void draw_resampled(QPainter& painter, const Cells& cells, const QRectF& frame);

}  // namespace attnscope
