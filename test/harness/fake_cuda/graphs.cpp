// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs: work that is kept, to be done as often as it is launched.
#include "harness/fake_cuda/state.h"

using namespace fake_cuda;
using Guard = std::lock_guard<std::mutex>;

namespace {

/// Which node of the graph; as many as there are if it is none. With the lock held.
size_t index_of(const Graph &graph, CUgraphNode node) {
    size_t i = 0;
    while (i < graph.handles.size() &&
           reinterpret_cast<CUgraphNode>(graph.handles[i].get()) != node) {
        i++;
    }
    return i;
}

/// Also one that is still captured; null if there is none. With the lock held.
Graph *find_graph(CUgraph handle) {
    const auto found = state().graphs.find(handle);
    if (found != state().graphs.end()) {
        return found->second.get();
    }
    for (const auto &[name, stream] : state().streams) {
        if (reinterpret_cast<CUgraph>(stream->capture.get()) == handle) {
            return stream->capture.get();
        }
    }
    return nullptr;
}

}  // namespace

CUresult cuUserObjectCreate(CUuserObject *handle, void *data, void (*ended)(void *),
                            unsigned references, unsigned flags) {
    FAKE_CUDA_CALL("cuUserObjectCreate");
    Guard guard(state().lock);
    if (references != 1 || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    const auto object = std::make_shared<UserObject>(data, ended);
    *handle = reinterpret_cast<CUuserObject>(object.get());
    state().user_objects[*handle] = object;
    return CUDA_SUCCESS;
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned) {
    FAKE_CUDA_CALL("cuUserObjectRelease");
    Guard guard(state().lock);
    return state().user_objects.erase(object) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuGraphRetainUserObject(CUgraph handle, CUuserObject object, unsigned, unsigned flags) {
    FAKE_CUDA_CALL("cuGraphRetainUserObject");
    Guard guard(state().lock);
    Graph *graph = find_graph(handle);
    const auto found = state().user_objects.find(object);
    if (!graph || found == state().user_objects.end() || flags != CU_GRAPH_USER_OBJECT_MOVE) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    graph->objects.push_back(found->second);
    state().user_objects.erase(found);
    return CUDA_SUCCESS;
}

CUresult cuGraphCreate(CUgraph *handle, unsigned) {
    FAKE_CUDA_CALL("cuGraphCreate");
    Guard guard(state().lock);
    const auto graph = std::make_shared<Graph>();
    if (CUresult code = current(&graph->context)) {
        return code;
    }
    *handle = reinterpret_cast<CUgraph>(graph.get());
    state().graphs[*handle] = graph;
    return CUDA_SUCCESS;
}

CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph handle, const CUgraphNode *dependencies,
                              size_t n_dependencies, const CUDA_KERNEL_NODE_PARAMS *params) {
    FAKE_CUDA_CALL("cuGraphAddKernelNode");
    Guard guard(state().lock);
    const auto found = state().graphs.find(handle);
    if (found == state().graphs.end()) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    Graph &graph = *found->second;
    for (size_t i = 0; i < n_dependencies; i++) {
        if (index_of(graph, dependencies[i]) == graph.handles.size()) {
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    Work work;
    if (CUresult code = prepare_launch(params->func, graph.context, *params, nullptr, &work)) {
        return code;
    }
    graph.nodes.push_back(std::move(work));
    graph.handles.push_back(std::make_shared<char>());
    *node = reinterpret_cast<CUgraphNode>(graph.handles.back().get());
    return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long) {
    FAKE_CUDA_CALL("cuGraphInstantiateWithFlags");
    Guard guard(state().lock);
    const auto found = state().graphs.find(graph);
    if (found == state().graphs.end()) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    const auto copy = std::make_shared<Graph>(*found->second);
    copy->source = graph;
    *exec = reinterpret_cast<CUgraphExec>(copy.get());
    state().execs[*exec] = copy;
    return CUDA_SUCCESS;
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec handle, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS *params) {
    FAKE_CUDA_CALL("cuGraphExecKernelNodeSetParams");
    Guard guard(state().lock);
    const auto found = state().execs.find(handle);
    if (found == state().execs.end()) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    Graph &exec = *found->second;
    const size_t i = index_of(exec, node);
    if (i == exec.handles.size() || !state().graphs.count(exec.source)) {
        state().misuse++;
        return CUDA_ERROR_INVALID_VALUE;
    }
    return prepare_launch(params->func, exec.context, *params, nullptr, &exec.nodes[i]);
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
    FAKE_CUDA_CALL("cuGraphLaunch");
    std::vector<Work> nodes;
    {
        Guard guard(state().lock);
        const auto found = state().execs.find(exec);
        if (found == state().execs.end()) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        nodes = found->second->nodes;  // what is changed later does not concern this launch
    }
    return submit(stream, [nodes] {
        for (const Work &node : nodes) {
            node();
        }
    });
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
    FAKE_CUDA_CALL("cuGraphExecDestroy");
    Guard guard(state().lock);
    return state().execs.erase(exec) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuGraphDestroy(CUgraph graph) {
    FAKE_CUDA_CALL("cuGraphDestroy");
    Guard guard(state().lock);
    return state().graphs.erase(graph) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
