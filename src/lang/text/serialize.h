// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pipelines as bytes, for other processes: algorithm, schedule, constant images and the values of
// Params. The bytes are text (pipeline/text/pipeline_text.h) below a line that says so.
//
//     std::vector<uint8_t> data;
//     serialize_pipeline(blur, data);
//     Pipeline same = deserialize_pipeline(data, {{"input", input.parameter()}});
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <vector>

#include "lang/pipeline.h"

namespace calotype {

/// Replaces the content of `data` or of the file. `params` gets the inputs of the pipeline, by name.
/// A CompileError if the pipeline has linkables or passes of the user. Not written are functions for
/// the JIT (set_jit_externs) and the buffers of ImageParams.
/// @{
void serialize_pipeline(const Pipeline &pipeline, std::vector<uint8_t> &data);
void serialize_pipeline(const Pipeline &pipeline, std::vector<uint8_t> &data,
                        std::map<std::string, Parameter> &params);
void serialize_pipeline(const Pipeline &pipeline, const std::string &filename);
void serialize_pipeline(const Pipeline &pipeline, const std::string &filename,
                        std::map<std::string, Parameter> &params);
/// @}

/// The pipeline again, with Funcs of its own. `user_params` take the place of its inputs of these
/// names, and must have their names, types and dimensions; other names do not matter. A CompileError
/// if the bytes are not what serialize_pipeline writes.
/// @{
Pipeline deserialize_pipeline(const std::vector<uint8_t> &data,
                              const std::map<std::string, Parameter> &user_params = {});
Pipeline deserialize_pipeline(const std::string &filename,
                              const std::map<std::string, Parameter> &user_params = {});
Pipeline deserialize_pipeline(std::istream &in,
                              const std::map<std::string, Parameter> &user_params = {});
/// @}

/// The inputs of a serialized pipeline alone, by name.
/// @{
std::map<std::string, Parameter> deserialize_parameters(const std::vector<uint8_t> &data);
std::map<std::string, Parameter> deserialize_parameters(const std::string &filename);
std::map<std::string, Parameter> deserialize_parameters(std::istream &in);
/// @}

}  // namespace calotype
