# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# function : generator : parameters. Each is compiled for CUDA and for OpenCL; corpus/*_test.cpp checks
# it, on whichever device there is.
set(CALOTYPE_GPU_CORPUS
    tile_1d:tile_1d:
    tile_2d:tile_2d:
    tile_3d:tile_3d:
    chain:chain:
    "chain_51:chain:stages=50"
    to_and_fro:to_and_fro:
    specialised:specialised:
    wide_u8:wide:type=uint8
    wide_u16:wide:
    wide_i32:wide:type=int32
    shared_blur:shared_blur:
    registers:registers:
    dynamic_shared:dynamic_shared:
    much_shared:much_shared:
    texture_u8:texture_copy:type=uint8
    texture_i8:texture_copy:type=int8
    texture_u16:texture_copy:type=uint16
    texture_i16:texture_copy:type=int16
    texture_u32:texture_copy:type=uint32
    texture_i32:texture_copy:type=int32
    texture_f16:texture_copy:type=float16
    texture_bf16:texture_copy:type=bfloat16
    texture_f32:texture_copy:type=float32
    texture_mix:texture_mix:
    histogram:histogram:
    updates:updates:
    tuples:tuples:
    gemm:gemm:
    gemm_tiled:gemm_tiled:
    "gemm_4096:gemm_tiled:width=4096 depth=4096"
    functions:functions:
    vectors:vectors:
    arithmetic_u8:arithmetic:type=uint8
    arithmetic_i8:arithmetic:type=int8
    arithmetic_u16:arithmetic:type=uint16
    arithmetic_i16:arithmetic:type=int16
    arithmetic_u32:arithmetic:type=uint32
    arithmetic_i32:arithmetic:type=int32
    arithmetic_u64:arithmetic:type=uint64
    arithmetic_i64:arithmetic:type=int64
    arithmetic_f32:arithmetic:type=float32
    arithmetic_f64:arithmetic:type=float64
    lanes_f32:lanes_neighbours:
    lanes_u8:lanes_neighbours:type=uint8
    lanes_bool:lanes_neighbours:type=bool
    lanes_i16:lanes_neighbours:type=int16
    lanes_i64:lanes_neighbours:type=int64
    lanes_f64:lanes_neighbours:type=float64
    "lanes_8_by_6:lanes_neighbours:lanes=8 rows=6"
    "lanes_16_i64:lanes_neighbours:lanes=16 rows=3 type=int64"
    "lanes_20:lanes_neighbours:lanes=20 rows=1"
    "lanes_20_by_2:lanes_neighbours:lanes=20 rows=2"
    lanes_tile:lanes_tile:
    lanes_tile_shared:lanes_tile:memory=shared
    lanes_sums:lanes_sums:
    "lanes_sums_8:lanes_sums:rows=8 memory=auto"
    lanes_sums_shared:lanes_sums:memory=shared
    lanes_butterfly:lanes_butterfly:
    lanes_butterfly_shared:lanes_butterfly:memory=shared
    lanes_table:lanes_table:
    lanes_vectors:lanes_vectors:
    lanes_scan:lanes_scan:
    "matrix_s8:matrix_product:type_a=int8 type_b=int8"
    "matrix_u8_s8:matrix_product:type_a=uint8 type_b=int8 b_by_columns=true warp_width=8"
    "matrix_s8_u8:matrix_product:type_a=int8 type_b=uint8 b_by_columns=true memory=shared"
    "matrix_u8:matrix_product:type_a=uint8 type_b=uint8 a_by_columns=true memory=global depth=64"
    "matrix_tf32:matrix_product:type_a=float32 type_b=float32"
    "matrix_tf32_columns:matrix_product:type_a=float32 type_b=float32 b_by_columns=true depth=8"
    "matrix_tf32_truncated:matrix_product:type_a=float32 type_b=float32 truncated=true"
    "matrix_tf32_global:matrix_product:type_a=float32 type_b=float32 memory=global a_by_columns=true")
# For CUDA alone.
set(CALOTYPE_GPU_CORPUS_cuda
    lanes_f16:lanes_neighbours:type=float16
    lanes_bf16:lanes_neighbours:type=bfloat16
    matrix_f16:matrix_product:
    "matrix_f16_columns:matrix_product:b_by_columns=true width=64 height=64 warp_width=32 warp_height=64"
    "matrix_f16_rows:matrix_product:a_by_columns=true memory=shared warp_width=32 depth=16"
    "matrix_f16_global:matrix_product:memory=global a_by_columns=true b_by_columns=true depth=48"
    "matrix_bf16:matrix_product:type_a=bfloat16 type_b=bfloat16 warp_height=32"
    "matrix_bf16_both:matrix_product:type_a=bfloat16 type_b=bfloat16 a_by_columns=true b_by_columns=true")
# For compute capability 9.0a.
set(CALOTYPE_GPU_CORPUS_warpgroups
    "group_f16:width=64 height=64 depth=64 warp_width=64"
    "group_f16_columns:width=128 height=128 depth=128 warp_width=128 b_by_columns=true"
    "group_f16_rows:width=64 height=64 depth=32 warp_width=64 a_by_columns=true memory=shared"
    "group_bf16_narrow:width=24 height=64 depth=64 warp_width=24 b_by_columns=true type_a=bfloat16 type_b=bfloat16"
    "group_s8:width=96 height=64 depth=128 warp_width=96 b_by_columns=true type_a=int8 type_b=int8"
    "group_u8:width=32 height=128 depth=256 warp_width=32 b_by_columns=true type_a=uint8 type_b=uint8 memory=shared"
    "group_tf32:width=64 height=64 depth=32 warp_width=64 b_by_columns=true type_a=float32 type_b=float32 truncated=true"
    "group_tiles_tf32:width=64 height=64 depth=64 warp_width=64 b_by_columns=true type_a=float32 type_b=float32 truncated=true aligned=true tiles=2"
    "group_tiles:width=64 height=64 depth=64 warp_width=64 aligned=true"
    "group_tiles_columns:width=128 height=128 depth=128 warp_width=128 b_by_columns=true aligned=true"
    "group_tiles_rows:width=64 height=64 depth=64 warp_width=64 a_by_columns=true aligned=true tiles=2"
    "group_tiles_s8:width=96 height=64 depth=256 warp_width=96 b_by_columns=true type_a=int8 type_b=int8 aligned=true tiles=3")
# What allocates in kernels needs the device runtime, which a compiler for CUDA C++ has made.
if(CALOTYPE_DEVICE_RUNTIME_FORMS)
    list(APPEND CALOTYPE_GPU_CORPUS_cuda thread_heap:thread_heap: thread_heaps:thread_heaps:)
endif()
