// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers that are on one device when a call on another one uses them.
#include <random>

#include "harness/nothing_module.h"
#include "runtime/abi/device_memory.h"
#include "runtime/cuda/fixture.h"

namespace {

using calotype_test::FakeCuda;
using calotype_test::Ints;

/// Three devices, whose default contexts calls name by their number.
class CudaPeers : public FakeCuda {
protected:
    CudaPeers() {
        fake_cuda::set_devices({132, 100, 80});
        start();
    }
    ~CudaPeers() override {
        for (int device = 0; device < 3; device++) {
            calotype_set_gpu_device(device);
            calotype_device_release(nullptr, cuda());
        }
        EXPECT_EQ(0, fake_cuda::calls_for_the_dead());
    }
    /// On the device in ascending numbers, the copy there being newer.
    static void put(Ints &a, int device, int first) {
        calotype_set_gpu_device(device);
        ASSERT_EQ(0, calotype_device_malloc(nullptr, &a.buf, cuda()));
        for (size_t i = 0; i < a.data.size(); i++) {
            a.on_device()[i] = first + int(i);
        }
        a.buf.set_host_dirty(false);
        a.buf.set_device_dirty();
    }
    static void expect_on_host(Ints &a, int first) {
        EXPECT_EQ(0, calotype_copy_to_host(nullptr, &a.buf));
        for (size_t i = 0; i < a.data.size(); i++) {
            ASSERT_EQ(first + int(i), a.data[i]) << i;
        }
    }
    static uint64_t bytes_on(int device) {
        calotype_memory_stats stats = {};
        stats.size = sizeof stats;
        EXPECT_EQ(CALOTYPE_OK, calotype_get_memory_stats(cuda(), device, &stats));
        return stats.in_use;
    }
};

TEST_F(CudaPeers, AnInputMovesToWhereTheCallWorks) {
    Ints a(1000);
    put(a, 1, 5);
    const uint64_t before = a.buf.device;
    calotype_set_gpu_device(0);
    EXPECT_EQ((Calls{{"cuMemcpyPeerAsync", 1}}),
              calls_of({"cuMemcpyPeerAsync", "cuMemcpyDtoHAsync", "cuMemcpyHtoDAsync"},
                       [&] { EXPECT_EQ(0, calotype_copy_to_device(nullptr, &a.buf, cuda())); }));
    EXPECT_NE(before, a.buf.device);
    EXPECT_TRUE(a.buf.device_dirty());
    EXPECT_EQ(4000u, bytes_on(0));
    EXPECT_EQ(0u, bytes_on(1));
    EXPECT_EQ(7, a.on_device()[2]);
    EXPECT_EQ((Calls{}), calls_of({"cuMemcpyPeerAsync", "cuMemAllocFromPoolAsync"}, [&] {
                  EXPECT_EQ(0, calotype_copy_to_device(nullptr, &a.buf, nullptr));
              }));
    expect_on_host(a, 5);
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
}

TEST_F(CudaPeers, AnOutputMovesAndWhatTheHostHasIsNotCopiedTwice) {
    Ints a(100), b(100);
    put(a, 1, 1);
    calotype_set_gpu_device(0);
    EXPECT_EQ(0, calotype_device_malloc(nullptr, &a.buf, cuda()));
    EXPECT_EQ(400u, bytes_on(0));
    expect_on_host(a, 1);
    put(b, 1, 9);
    b.buf.set_device_dirty(false);
    b.buf.set_host_dirty();
    calotype_set_gpu_device(0);
    EXPECT_EQ((Calls{{"cuMemcpyHtoDAsync", 1}}),
              calls_of({"cuMemcpyPeerAsync", "cuMemcpyHtoDAsync"},
                       [&] { EXPECT_EQ(0, calotype_copy_to_device(nullptr, &b.buf, cuda())); }));
    EXPECT_EQ(1, b.on_device()[0]);
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
    EXPECT_EQ(0, calotype_device_free(nullptr, &b.buf));
}

/// Whoever asks for the host's copy need not know on which device the pipeline ran, and the work
/// there is waited for.
TEST_F(CudaPeers, CopiesWorkWhereTheBufferIs) {
    Ints a(10);
    put(a, 2, 1);
    calotype_set_gpu_device(0);
    expect_on_host(a, 1);
    EXPECT_EQ(0, fake_cuda::primary_retains(0)) << "no context is made for it";
    EXPECT_EQ(0, calotype_device_sync(nullptr, &a.buf));
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
}

TEST_F(CudaPeers, BetweenBuffersOfTwoDevices) {
    Ints a(24), b(22);
    calotype_dimension_t boxes[2][3];
    for (Ints *ints : {&a, &b}) {
        calotype_dimension_t *dim = boxes[ints == &b];
        const int pitch = ints == &a ? 2 : 4;  // of b every other pair of elements
        dim[0] = {0, 2, 1};
        dim[1] = {0, ints == &a ? 3 : 2, pitch};
        dim[2] = {0, ints == &a ? 4 : 3, pitch * (ints == &a ? 3 : 2)};
        ints->buf.dimensions = 3;
        ints->buf.dim = dim;
    }
    put(a, 1, 100);
    put(b, 2, 0);
    calotype_set_gpu_device(0);
    EXPECT_EQ((Calls{{"cuMemcpy3DPeerAsync", 1}}),
              calls_of({"cuMemcpyPeerAsync", "cuMemcpy3DPeerAsync", "cuMemcpyDtoHAsync"}, [&] {
                  EXPECT_EQ(0, calotype_buffer_copy(nullptr, &a.buf, cuda(), &b.buf));
              }));
    EXPECT_EQ(0, calotype_copy_to_host(nullptr, &b.buf));
    for (int z = 0; z < 3; z++) {
        for (int y = 0; y < 2; y++) {
            for (int x = 0; x < 2; x++) {
                EXPECT_EQ(100 + x + 2 * y + 6 * z, b.data[size_t(x + 4 * y + 8 * z)]);
            }
        }
    }
    EXPECT_EQ(96u, bytes_on(1)) << "neither has moved";
    EXPECT_EQ(88u, bytes_on(2));
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
    EXPECT_EQ(0, calotype_device_free(nullptr, &b.buf));
}

TEST_F(CudaPeers, PartsAndTheApplicationsMemoryAreNotMoved) {
    Ints a(10), wrapped(10);
    put(a, 1, 1);
    calotype_dimension_t dim = {4, 3, 1};
    calotype_buffer_t part = a.buf;
    part.dim = &dim;
    part.device = 0;
    part.device_interface = nullptr;
    ASSERT_EQ(0, calotype_device_crop(nullptr, &a.buf, &part));
    void *context = make_context(1);
    uint64_t address = 0;
    void *popped = nullptr;
    ASSERT_EQ(0, cuCtxPushCurrent_v2(context));
    ASSERT_EQ(0, cuMemAlloc_v2(&address, 40));
    ASSERT_EQ(0, cuCtxPopCurrent_v2(&popped));
    wrapped.buf.host = nullptr;
    calotype_set_gpu_device(0);
    ASSERT_EQ(0, calotype_cuda_wrap_device_ptr(nullptr, &wrapped.buf, address));
    for (calotype_buffer_t *buf : {&part, &wrapped.buf}) {
        EXPECT_EQ(calotype_error_code_copy_to_device_failed,
                  calotype_copy_to_device(nullptr, buf, cuda()));
        const std::string text = errors.take();
        EXPECT_NE(std::string::npos,
                  text.find("is on CUDA device 1, and kernels on device 0 cannot reach it"))
            << text;
    }
    calotype_set_gpu_device(1);
    EXPECT_EQ(0, calotype_copy_to_device(nullptr, &part, cuda())) << "there it is used as it is";
    EXPECT_EQ(0, calotype_copy_to_device(nullptr, &wrapped.buf, cuda()));
    EXPECT_EQ(0, calotype_cuda_detach_device_ptr(nullptr, &wrapped.buf));
    EXPECT_EQ(0, calotype_device_release_crop(nullptr, &part));
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
    EXPECT_EQ(0, cuCtxDestroy_v2(context));
}

/// Each call of the driver fails once: the buffer keeps its elements, or they are on the host.
TEST_F(CudaPeers, AMoveThatFailsLosesNothing) {
    const char *names[] = {"cuMemAllocFromPoolAsync", "cuMemcpyPeerAsync", "cuStreamSynchronize",
                           "cuPointerGetAttribute"};
    for (const char *name : names) {
        Ints a(50);
        put(a, 1, 3);
        calotype_set_gpu_device(0);
        fake_cuda::fail(name, 999);
        const bool has_failed = calotype_copy_to_device(nullptr, &a.buf, cuda()) != 0;
        EXPECT_EQ(has_failed, errors.count() != 0) << name;
        errors.take();
        EXPECT_EQ(200u, bytes_on(0) + bytes_on(1)) << name;
        expect_on_host(a, 3);
        EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
    }
}

/// Buffers wander between three devices and the host, as a call or a copy would have it.
TEST_F(CudaPeers, Random) {
    std::mt19937 random(20);
    std::vector<Ints> buffers;
    std::vector<int> first(5);
    for (int i = 0; i < 5; i++) {
        buffers.emplace_back(16 + i);
        put(buffers.back(), i % 3, first[size_t(i)] = 1000 * i);
    }
    for (Ints &a : buffers) {
        a.buf.dim = a.dim;  // they have moved
        a.buf.host = reinterpret_cast<uint8_t *>(a.data.data());
    }
    for (int step = 0; step < 2000; step++) {
        const size_t i = random() % 5;
        Ints &a = buffers[i];
        calotype_set_gpu_device(int(random() % 3));
        switch (random() % 5) {
        case 0: {
            ASSERT_EQ(0, calotype_copy_to_device(nullptr, &a.buf, cuda()));
            ASSERT_EQ(0, calotype_device_sync(nullptr, &a.buf));
            first[i] = step;
            for (size_t e = 0; e < a.data.size(); e++) {
                a.on_device()[e] = step + int(e);
            }
            a.buf.set_device_dirty();
            break;
        }
        case 1:
            expect_on_host(a, first[i]);
            break;
        case 2:
            expect_on_host(a, first[i]);
            first[i] = -step;
            for (size_t e = 0; e < a.data.size(); e++) {
                a.data[e] = -step + int(e);
            }
            a.buf.set_host_dirty();
            break;
        case 3: {
            const size_t j = random() % 5;
            if (i < j) {  // the larger one has more elements
                ASSERT_EQ(0, calotype_buffer_copy(nullptr, &buffers[j].buf, cuda(), &a.buf));
                first[i] = first[j];
            }
            break;
        }
        default:
            expect_on_host(a, first[i]);
            ASSERT_EQ(0, calotype_device_free(nullptr, &a.buf));
            a.buf.set_host_dirty();
        }
        ASSERT_EQ(0u, errors.count());
    }
    for (size_t i = 0; i < 5; i++) {
        expect_on_host(buffers[i], first[i]);
        EXPECT_EQ(0, calotype_device_free(nullptr, &buffers[i].buf));
    }
}

}  // namespace
