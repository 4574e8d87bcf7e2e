"""Products of vectors that work-items hold (Intel's sub-group functions) become products of cooperative matrices."""
