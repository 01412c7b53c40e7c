// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// All algorithms on vectors and deques that know their access pattern. Layer: container.

#include <outsize/container/scan/find.hpp>
#include <outsize/container/scan/for_each.hpp>
#include <outsize/container/scan/merge.hpp>
#include <outsize/container/scan/permute.hpp>
#include <outsize/container/scan/prefix.hpp>
#include <outsize/container/scan/reduce.hpp>
#include <outsize/container/scan/remove.hpp>
#include <outsize/container/scan/transform.hpp>
#include <outsize/container/shuffle.hpp>
#include <outsize/container/sort.hpp>
