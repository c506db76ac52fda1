// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tracing: events as text, or as packets in a file.
//
// Packets are gathered in a buffer that one lock guards, and written when it is full or a pipeline
// ends, so that tracing of loads and stores is not one system call each.
#include "runtime/abi/tracing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/abi/errors.h"
#include "runtime/abi/hooks.h"
#include "runtime/host/environment.h"
#include "runtime/host/sync.h"
#include "runtime/host/text.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

namespace {

std::atomic<int32_t> last_id{0};

class TraceFile {
public:
    /** File descriptor, 0 if there is none, or an error code. Opens what CT_TRACE_FILE names. */
    int get(void *user_context);
    void set(int fd);
    int write(void *user_context, const calotype_trace_event_t &event, int32_t id);
    int close();

private:
    static constexpr int unknown = -1000;
    static constexpr size_t capacity = 1 << 16;

    Mutex mutex;
    std::atomic<int> fd{unknown};
    bool ours = false;
    size_t used = 0;
    uint8_t buffer[capacity] = {};

    int flush();
};

constinit TraceFile trace_file;

int TraceFile::get(void *user_context) {
    int current = fd.load(std::memory_order_acquire);
    if (current != unknown) {
        return current;
    }
    LockGuard lock(mutex);
    current = fd.load(std::memory_order_relaxed);
    if (current != unknown) {
        return current;
    }
    const char *name = environment("CT_TRACE_FILE");
    current = name && *name ? open(name, O_CREAT | O_WRONLY | O_TRUNC, 0644) : 0;
    ours = current > 0;
    if (current < 0) {
        Text t;
        t << "cannot open trace file " << name << ": " << strerror(errno);
        calotype_error(user_context, t.c_str());
        current = calotype_error_code_trace_failed;
    }
    fd.store(current, std::memory_order_release);
    return current;
}

void TraceFile::set(int new_fd) {
    LockGuard lock(mutex);
    flush();
    if (ours) {
        ::close(fd.load(std::memory_order_relaxed));
    }
    ours = false;
    fd.store(new_fd, std::memory_order_release);
}

/** With the lock held. */
int TraceFile::flush() {
    const int out = fd.load(std::memory_order_relaxed);
    size_t done = 0;
    while (out > 0 && done < used) {
        const ssize_t n = ::write(out, buffer + done, used - done);
        if (n < 0 && errno != EINTR) {
            break;
        }
        done += n > 0 ? size_t(n) : 0;
    }
    const bool all = done == used;
    used = 0;
    return all ? 0 : calotype_error_code_trace_failed;
}

int TraceFile::close() {
    LockGuard lock(mutex);
    int code = flush();
    if (ours && ::close(fd.load(std::memory_order_relaxed)) != 0) {
        code = calotype_error_code_trace_failed;
    }
    ours = false;
    fd.store(unknown, std::memory_order_release);
    return code;
}

/** Where the parts of an event's packet stand. */
struct PacketLayout {
    const char *tag;
    size_t coordinates, value, name, end;  ///< offsets; end is the size, a multiple of four
    size_t name_size, tag_size;            ///< with their zero bytes

    explicit PacketLayout(const calotype_trace_event_t &event)
        : tag(event.trace_tag ? event.trace_tag : "") {
        name_size = strlen(event.func) + 1;
        tag_size = strlen(tag) + 1;
        coordinates = sizeof(calotype_trace_packet_t);
        value = coordinates + size_t(event.dimensions) * sizeof(int32_t);
        name = value + size_t(event.type.lanes) * size_t(event.type.bytes());
        end = (name + name_size + tag_size + 3) & ~size_t(3);
    }
};

void write_packet(uint8_t *p, const calotype_trace_event_t &event, int32_t id,
                  const PacketLayout &layout) {
    memset(p, 0, layout.end);
    calotype_trace_packet_t header = {};
    header.size = uint32_t(layout.end);
    header.id = id;
    header.type = event.type;
    header.event = event.event;
    header.parent_id = event.parent_id;
    header.value_index = event.value_index;
    header.dimensions = event.dimensions;
    memcpy(p, &header, sizeof header);
    if (event.dimensions > 0) {
        memcpy(p + layout.coordinates, event.coordinates, layout.value - layout.coordinates);
    }
    if (event.value) {
        memcpy(p + layout.value, event.value, layout.name - layout.value);
    }
    memcpy(p + layout.name, event.func, layout.name_size);
    memcpy(p + layout.name + layout.name_size, layout.tag, layout.tag_size);
}

int TraceFile::write(void *user_context, const calotype_trace_event_t &event, int32_t id) {
    const PacketLayout layout(event);
    LockGuard lock(mutex);
    int code = used + layout.end > capacity ? flush() : 0;
    if (layout.end > capacity) {
        code = calotype_error_code_trace_failed;
    }
    if (code == 0) {
        write_packet(buffer + used, event, id, layout);
        used += layout.end;
        code = event.event == calotype_trace_end_pipeline ? flush() : 0;
    }
    if (code) {
        calotype_error(user_context, "cannot write to the trace file");
    }
    return code;
}

const char *const event_names[] = {"load",
                                   "store",
                                   "begin_realization",
                                   "end_realization",
                                   "produce",
                                   "end_produce",
                                   "consume",
                                   "end_consume",
                                   "begin_pipeline",
                                   "end_pipeline",
                                   "tag",
                                   "begin_parallel_task",
                                   "end_parallel_task"};

void append_coordinates(Text &text, const calotype_trace_event_t &event) {
    const int lanes = event.type.lanes > 1 ? event.type.lanes : 1;
    text << '(';
    for (int i = 0; i < event.dimensions; i++) {
        const bool starts_dimension = lanes > 1 && i % lanes == 0;
        text << (i == 0 ? "" : ", ") << (starts_dimension ? "<" : "") << event.coordinates[i];
        text << (lanes > 1 && i % lanes == lanes - 1 ? ">" : "");
    }
    text << ')';
}

void append_value(Text &text, const calotype_trace_event_t &event) {
    const char *value = static_cast<const char *>(event.value);
    const int lanes = event.type.lanes;
    text << " = " << (lanes > 1 ? "<" : "");
    for (int i = 0; i < lanes; i++) {
        text << (i == 0 ? "" : ", ");
        text.append_value(event.type, value + i * event.type.bytes());
    }
    text << (lanes > 1 ? ">" : "");
}

void print_event(void *user_context, const calotype_trace_event_t &event) {
    Text line;
    line << event_names[event.event] << ' ' << event.func;
    if (event.dimensions > 0) {
        append_coordinates(line, event);
    }
    if (event.value_index > 0) {
        line << '.' << event.value_index;
    }
    if (event.value) {
        append_value(line, event);
    }
    if (event.trace_tag && *event.trace_tag) {
        line << " tag \"" << event.trace_tag << '"';
    }
    line << '\n';
    calotype_print(user_context, line.c_str());
}

__attribute__((destructor)) void end_of_process() {
    trace_file.close();
}

}  // namespace

static Hook<calotype_trace_t> trace_hook(calotype_default_trace);

CALOTYPE_WEAK int32_t calotype_default_trace(void *user_context,
                                             const calotype_trace_event_t *event) {
    const int32_t id = last_id.fetch_add(1, std::memory_order_relaxed) + 1;
    const int fd = calotype_get_trace_file(user_context);
    if (fd < 0) {
        return fd;
    }
    if (fd == 0) {
        print_event(user_context, *event);
        return id;
    }
    const int code = trace_file.write(user_context, *event, id);
    return code ? code : id;
}

CALOTYPE_WEAK int32_t calotype_trace(void *user_context, const calotype_trace_event_t *event) {
    return trace_hook.get()(user_context, event);
}

CALOTYPE_WEAK calotype_trace_t calotype_set_custom_trace(calotype_trace_t trace) {
    return trace_hook.set(trace);
}

CALOTYPE_WEAK void calotype_set_trace_file(int fd) {
    trace_file.set(fd);
}

CALOTYPE_WEAK int calotype_get_trace_file(void *user_context) {
    return trace_file.get(user_context);
}

CALOTYPE_WEAK int calotype_shutdown_trace(void) {
    return trace_file.close();
}
