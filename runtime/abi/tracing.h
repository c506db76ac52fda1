/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Tracing: the events that a pipeline compiled with trace directives reports, and their form in a
 * trace file.
 */
#pragma once

#include <stdint.h>

#include "attributes.h"
#include "type.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum calotype_trace_event_code_t {
    calotype_trace_load = 0,
    calotype_trace_store = 1,
    calotype_trace_begin_realization = 2,
    calotype_trace_end_realization = 3,
    calotype_trace_produce = 4,
    calotype_trace_end_produce = 5,
    calotype_trace_consume = 6,
    calotype_trace_end_consume = 7,
    calotype_trace_begin_pipeline = 8,
    calotype_trace_end_pipeline = 9,
    calotype_trace_tag = 10,
    calotype_trace_begin_parallel_task = 11,
    calotype_trace_end_parallel_task = 12
} calotype_trace_event_code_t;

/** One event. Loads and stores say which elements with which values; the events round a region give
 * min and extent of each dimension in turn: of a realization what is stored, of productions and what
 * consumes them what is produced there, less what earlier iterations left in storage.
 *
 * The first tags of a pipeline say of each Func and buffer that is traced what it is, in numbers:
 * "func_type_and_dim: ", how many types, code, bits and lanes of each, how many dimensions, min and
 * extent of each, of all that the pipeline touches. Tags of the program follow. */
typedef struct calotype_trace_event_t {
    /** Name of the Func, or of the pipeline. */
    const char *func;
    /** The value loaded or stored, `type` says how wide; null for other events. */
    void *value;
    /** `dimensions` numbers; for vectors the lanes of one coordinate stand together. */
    int32_t *coordinates;
    /** Text of the tag, for calotype_trace_tag; null or empty else. */
    const char *trace_tag;
    struct calotype_type_t type;
    enum calotype_trace_event_code_t event;
    /** What calotype_trace returned for the event that this one stands in. */
    int32_t parent_id;
    /** Which value of a Func with several. */
    int32_t value_index;
    /** Length of `coordinates`. */
    int32_t dimensions;
    /** Of the value, as type.lanes. */
    int32_t lanes;
    /** Of calotype_trace_begin_parallel_task: the thread that runs it, never 0. Else 0. */
    int32_t thread_id;
} calotype_trace_event_t;

/** Told of every event. Returns an id for it, greater than 0. By default a line of text is printed,
 * or, if there is a trace file, a packet written. */
extern int32_t calotype_trace(void *user_context, const struct calotype_trace_event_t *event);
extern int32_t calotype_default_trace(void *user_context,
                                      const struct calotype_trace_event_t *event);
typedef int32_t (*calotype_trace_t)(void *user_context, const struct calotype_trace_event_t *event);
extern calotype_trace_t calotype_set_custom_trace(calotype_trace_t trace);

/** The header of one packet in a trace file. After it come the coordinates (32 bits each), the
 * value, the name of the Func and the tag, both ended by a zero byte; then zero bytes up to a
 * multiple of four. */
typedef struct calotype_trace_packet_t {
    uint32_t size; /**< bytes of the whole packet */
    int32_t id;    /**< what calotype_trace returned */
    struct calotype_type_t type;
    enum calotype_trace_event_code_t event;
    int32_t parent_id;
    int32_t value_index;
    int32_t dimensions;

#ifdef __cplusplus
    const int *coordinates() const {
        return reinterpret_cast<const int *>(this + 1);
    }
    int *coordinates() {
        return reinterpret_cast<int *>(this + 1);
    }
    const void *value() const {
        return coordinates() + dimensions;
    }
    void *value() {
        return coordinates() + dimensions;
    }
    const char *func() const {
        return static_cast<const char *>(value()) + type.lanes * type.bytes();
    }
    char *func() {
        return static_cast<char *>(value()) + type.lanes * type.bytes();
    }
    const char *trace_tag() const {
        return past_end_of(func());
    }
    char *trace_tag() {
        return const_cast<char *>(past_end_of(func()));
    }

private:
    static const char *past_end_of(const char *text) {
        while (*text != 0) {
            text++;
        }
        return text + 1;
    }
#endif
} calotype_trace_packet_t;

/** Write packets to this file descriptor from now on; 0 stops that and prints text again. The
 * caller keeps the descriptor. */
extern void calotype_set_trace_file(int fd);
/** The file descriptor in use: the one set, else the file that CT_TRACE_FILE names, opened at the
 * first call; 0 if neither, a negative error code if it cannot be opened. */
extern int calotype_get_trace_file(void *user_context);
/** Close the trace file if the runtime opened it. Returns 0 or an error code. */
extern int calotype_shutdown_trace(void);

#ifdef __cplusplus
}
#endif
