// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LoweredModule: what lowering hands to code generation, as plain data. It compiles nothing itself.
//
// Conventions of a function's body:
// - A scalar argument `x` is the Variable `x`. A buffer argument `in` is the handle Variable
//   `in.buffer`; the body takes from it what it needs (`let in = buffer_get_host(in.buffer)`, ...).
//   An embedded buffer `im` is the handle Variable `im.buffer`, visible in every function.
// - Loads and stores of buffer `f` use the address in the handle Variable `f`, bound by a LetStmt
//   or by `allocate f`.
// - `__user_context` is a handle Variable. Where no argument has that name it is null.
// - The function's result is an int32 error code: that of the first AssertStmt that fails, of a
//   parallel loop that fails, or 0. Allocations are freed and registered destructors called on
//   every way out.
// - Storage is flat: no Provide, Realize, Func or Image calls, no Vectorized or Unrolled loops.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/argument.h"
#include "ir/enums.h"
#include "ir/linkable.h"
#include "ir/stmt_nodes.h"

namespace calotype {

/// Who can call a function of a module from outside, and what comes with it.
enum class LinkageType : uint8_t {
    External,              ///< the C function
    ExternalPlusMetadata,  ///< and NAME_argv(void **) and NAME_metadata()
    ExternalPlusArgv,      ///< and NAME_argv(void **)
    Internal,              ///< only functions of the same module
};

/// Which functions of the runtime a prefix names.
enum class RuntimeLinkage : uint8_t {
    Import,    ///< those that generated code calls
    Export,    ///< those that the runtime's library has for others
    Internal,  ///< what the library's own parts call and share
};
/// The prefixes that take the place of `calotype_` in the names of the runtime's functions; what has
/// none keeps its name. Internal is put in front of names.
using RuntimeNamespaceMap = std::map<RuntimeLinkage, std::string>;

/// What Pipeline::apply_runtime_prefixes takes.
struct RuntimePrefixParams {
    RuntimeNamespaceMap prefixes;

    RuntimePrefixParams() = default;
    RuntimePrefixParams(const RuntimeNamespaceMap &prefixes) : prefixes(prefixes) {
    }
};

/// From names of arguments as the pipeline has them to the names that metadata shows.
using MetadataNameMap = std::map<std::string, std::string>;

namespace internal {

/// An argument of a lowered function.
struct LoweredArgument : Argument {
    /// Buffers: what is known of the host address, in bytes.
    Alignment alignment;

    LoweredArgument() = default;
    explicit LoweredArgument(const Argument &a, Alignment alignment = {})
        : Argument(a), alignment(alignment) {
    }
    LoweredArgument(const std::string &name, Kind kind, const Type &type, int dimensions,
                    const ArgumentEstimates &estimates, Alignment alignment = {})
        : Argument(name, kind, type, dimensions, estimates), alignment(alignment) {
    }
};

/// One function that can be called from C. `name` may have namespaces ("a::b::f"): then, and with
/// NameMangling::CPlusPlus, the symbol is that of the C++ function.
struct LoweredFunction {
    std::string name;
    std::vector<LoweredArgument> args;
    Stmt body;
    LinkageType linkage = LinkageType::ExternalPlusMetadata;
    NameMangling name_mangling = NameMangling::Default;
    Stmt conceptual;  ///< the body before its storage was made flat, for people to read
};

/// A constant image that travels in the object file.
struct LoweredBuffer {
    std::string name;
    Type type;
    struct Dimension {
        int32_t min, extent, stride;
    };
    std::vector<Dimension> dimensions;
    std::vector<uint8_t> bytes;  ///< from the address of the element at all mins
    int alignment = 128;         ///< of the bytes in memory
};

/// Code that comes ready made.
struct ExternalCode {
    enum class Kind : uint8_t { LLVMBitcode };
    Kind kind = Kind::LLVMBitcode;
    std::string name;
    std::vector<uint8_t> bytes;
};

/// What gpu_tile_copy(to, i, arrivals, j, from, width, height, dimension, zero, coordinates...) says.
/// The hardware copies boxes of it: of one panel of shared memory, which has rows of 128 bytes, and of
/// 256 rows at most. What it needs to know of `from` for that is an argument of the kernel, `map`
/// (CUtensorMap), which the host makes for each launch.
struct TileCopyCall {
    static constexpr int panel_bytes = 128, most_rows = 256, most_dimensions = 5;
    static constexpr int map_bytes = 128, map_alignment = 64;
    std::string from, map;
    int width, height, dimension;  ///< rows follow one another in that dimension of `from`
    Type type;
    int box_width, box_height;
    std::vector<Expr> coordinates;

    explicit TileCopyCall(const internal::Call *op)
        : from(op->args.at(4).as<internal::Variable>()->name), width(number(op, 5)),
          height(number(op, 6)), dimension(number(op, 7)), type(op->args.at(8).type()),
          box_width(panel_bytes / type.bytes()), box_height(std::min(height, most_rows)),
          coordinates(op->args.begin() + 9, op->args.end()) {
        map = from + ".tiles." + std::to_string(box_width) + "x" + std::to_string(box_height) +
              (dimension == 1 ? "" : "." + std::to_string(dimension));
    }

private:
    static int number(const internal::Call *op, size_t i) {
        return int(op->args.at(i).as<internal::IntImm>()->value);
    }
};

/// An argument of a kernel: the Variable `name` in its body. A buffer is the handle that loads and
/// stores of `name` go through.
struct KernelArgument {
    std::string name;
    Type type;  ///< of the scalar, or of the buffer's elements
    bool is_buffer = false;
    bool is_tile_map = false;              ///< the `map` of a TileCopyCall
    MemoryType memory = MemoryType::Heap;  ///< GPUTexture: an image
    int dimensions = 0;                    ///< of an image
    bool read = false, written = false;    ///< by the kernel, for buffers
    Alignment alignment;                   ///< of a buffer's address, in bytes
};

/// A function that one thread of a device runs. In its body:
/// - gpu_block_index(d) and gpu_thread_index(d) say which thread it is; there are no GPU loops;
/// - `allocate f in GPUShared` is shared by the block: of constant size, or, for at most one,
///   of the size that the launch gives (its extents then are the Variable `.shared_bytes`);
/// - other allocations are of the thread: of constant size, or made of an address (`new_expr`);
/// - there are no asserts, no parallel loops, no calls of host functions.
struct DeviceKernel {
    std::string name;
    std::vector<KernelArgument> args;
    Stmt body;
    int64_t block_size[3] = {0, 0, 0};  ///< 0: not a constant
    int64_t min_blocks = 0;             ///< at once on a multiprocessor; 0: the compiler chooses
    int64_t shared_bytes = 0;           ///< of allocations of constant size
    bool dynamic_shared = false;
};

/// The kernels of one object for one kind of device. Host code refers to it with
/// gpu_module_descriptor(name of the API).
struct DeviceModule {
    DeviceAPI api = DeviceAPI::None;
    std::string name;
    std::vector<DeviceKernel> kernels;
    LinkedCode linked;  ///< what kernels call, and what is pinned
};

/// All that one object file is made of.
struct LoweredModule {
    std::string name;
    std::string target;  ///< the target string that metadata shows
    std::vector<LoweredFunction> functions;
    std::vector<LoweredBuffer> buffers;
    std::vector<ExternalCode> external_code;
    std::vector<DeviceModule> device_modules;
    LinkedCode linked;  ///< what functions of the host call
    MetadataNameMap metadata_names;
    RuntimeNamespaceMap runtime_prefixes;
    bool any_strict_float = false;  ///< some part asked for strict floating point everywhere
    /// What an autoscheduler says of its work, if there was one: the schedule as C++, and features
    /// of the pipeline in a form of its own.
    std::string schedule_source, featurization;

    /// The function of that name, or null.
    const LoweredFunction *find_function(const std::string &name) const {
        for (const LoweredFunction &f : functions) {
            if (f.name == name) {
                return &f;
            }
        }
        return nullptr;
    }
};

}  // namespace internal

}  // namespace calotype
