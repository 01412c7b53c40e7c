// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// Places that several threads must not use at once, each behind a macro; compiles without any.

#include <utility>

#include <outsize/container/matrix.hpp>
#include <outsize/container/vector.hpp>
#include <outsize/scan/algorithms.hpp>

inline double product(outsize::vector<double>& v, outsize::matrix<double>& m) {
  double sum = outsize::transform_reduce(v, m.row(7).begin(), 0.0);
  sum += outsize::transform_reduce(outsize::par, v, std::as_const(m).row(7).begin(), 0.0);
  return sum + outsize::transform_reduce(outsize::par, v, v.rbegin(), 0.0);
}

#ifdef ROW_THAT_MAY_CHANGE
inline double product_of_row(outsize::vector<double>& v, outsize::matrix<double>& m) {
  return outsize::transform_reduce(outsize::par, v, m.row(7).begin(), 0.0);
}
#endif

#ifdef OUTPUT_BACKWARD
inline void copy_backward(outsize::vector<double>& from, outsize::vector<double>& to) {
  outsize::copy(outsize::par, from, to.rbegin());
}
#endif
