#include <gtest/gtest.h>

#include "analysis/figure/figure.h"
TEST(Figure, DefaultsToAPaperColumn) { EXPECT_EQ(attnscope::Figure{}.width_mm, 84); }
