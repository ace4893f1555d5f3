#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "backend/engine/format.h"

namespace tpack::cpu {

/// oneDNN's type of elements. Errors: ConfigError for float64, which only the reference backend computes.
dnnl::memory::data_type type_of(DType dtype);

/// oneDNN's description of a format. Types unknown to oneDNN are described by their width, int64 as
/// two numbers. Errors: ConfigError for float64, which only the reference backend computes.
dnnl::memory::desc md_of(const Format& format);

/// A format that oneDNN has chosen, or that only its strides describe. Threads: any.
Format opaque(const dnnl::memory::desc& md);

const dnnl::engine& engine();

}  // namespace tpack::cpu
