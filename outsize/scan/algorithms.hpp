// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#pragma once

// All algorithms on vectors and deques that know their access pattern. Layer: scan.

#include <outsize/scan/find.hpp>
#include <outsize/scan/for_each.hpp>
#include <outsize/scan/merge_containers.hpp>
#include <outsize/scan/permute.hpp>
#include <outsize/scan/prefix.hpp>
#include <outsize/scan/reduce.hpp>
#include <outsize/scan/remove.hpp>
#include <outsize/scan/shuffle.hpp>
#include <outsize/scan/sort_containers.hpp>
#include <outsize/scan/transform.hpp>
