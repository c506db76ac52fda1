# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Pipelines that are replayed as graphs, and the same without: NAME_graphs and NAME_streams, which
# take a calotype_device_context. Included by test/gpu/CMakeLists.txt.
set(CALOTYPE_GPU_CORPUS
    "gain_51:gain_chain:stages=51"
    to_and_fro:to_and_fro:
    specialised:specialised:
    updates:updates:)
gpu_corpus(graphs x86-64-linux-cuda-cuda_capability_90-cuda_graphs-user_context)
gpu_corpus(streams x86-64-linux-cuda-cuda_capability_90-user_context)

gpu_executable(test_gpu_graphs graphs/graphs_test.cpp LINK gpu_corpus_graphs gpu_corpus_streams)
target_include_directories(test_gpu_graphs PRIVATE "${PROJECT_BINARY_DIR}/include")

gpu_executable(bench_graphs PLAIN "${PROJECT_SOURCE_DIR}/test/performance/gpu/graphs/bench_graphs.cpp"
    LINK gpu_corpus_graphs gpu_corpus_streams)
target_include_directories(bench_graphs PRIVATE
    "${PROJECT_BINARY_DIR}/include" "${PROJECT_SOURCE_DIR}/test")

# Without a GPU: on the fake driver.
set(CALOTYPE_GPU_CORPUS "gain_5:gain_chain:stages=5")
gpu_corpus(fake x86-64-linux-cuda-cuda_capability_90-cuda_graphs-user_context)
calotype_test(test_graphs_fake SOURCES graphs/fake_test.cpp LINK gpu_corpus_fake calotype_fake_cuda)
target_include_directories(test_graphs_fake PRIVATE "${PROJECT_BINARY_DIR}/include")
