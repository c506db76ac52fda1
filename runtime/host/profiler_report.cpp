// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/host/profiler_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/abi/hooks.h"
#include "runtime/host/environment.h"
#include "runtime/host/text.h"

namespace calotype::runtime {

namespace {

double ratio(uint64_t numerator, uint64_t denominator) {
    return denominator ? double(numerator) / double(denominator) : 0;
}

/** A number with a fixed count of decimals. */
struct Fixed {
    double value;
    int decimals;
};

Text &operator<<(Text &text, Fixed f) {
    char digits[64];
    snprintf(digits, sizeof digits, "%.*f", f.decimals, f.value);
    return text << digits;
}

/** Time per run, in the report's unit. */
Fixed milliseconds(uint64_t nanoseconds, int runs) {
    return {double(nanoseconds) / 1e6 / (runs > 0 ? runs : 1), 3};
}

void pad_to(Text &line, size_t column) {
    do {
        line << ' ';
    } while (line.size() < column);
}

void print_func(void *user_context, const calotype_profiler_func_stats &func,
                const calotype_profiler_pipeline_stats &pipeline, uint64_t billed) {
    Text line;
    line << "  " << func.name << ":";
    pad_to(line, 24);
    line << milliseconds(func.time, pipeline.runs) << " ms ("
         << Fixed{100 * ratio(func.time, billed), 1} << "%)";
    pad_to(line, 48);
    line << "threads: "
         << Fixed{ratio(func.active_threads_numerator, func.active_threads_denominator), 2};
    if (func.memory_peak > 0) {
        line << " peak: " << func.memory_peak << " num: " << func.num_allocs
             << " avg: " << func.memory_total / uint64_t(func.num_allocs);
    }
    if (func.stack_peak > 0) {
        line << " stack: " << func.stack_peak;
    }
    line << '\n';
    calotype_print(user_context, line.c_str());
}

void print_pipeline(void *user_context, const calotype_profiler_pipeline_stats &p) {
    Text head;
    head << p.name << '\n'
         << " total time: " << milliseconds(p.time, 1) << " ms  samples: " << p.samples
         << "  runs: " << p.runs << "  time per run: " << milliseconds(p.time, p.runs) << " ms\n"
         << " average threads used: "
         << Fixed{ratio(p.active_threads_numerator, p.active_threads_denominator), 2} << '\n'
         << " heap allocations: " << p.num_allocs << "  peak heap usage: " << p.memory_peak
         << " bytes\n";
    calotype_print(user_context, head.c_str());
    uint64_t billed = 0;
    for (int i = 0; i < p.num_funcs; i++) {
        billed += p.funcs[i].time;
    }
    for (int i = 0; i < p.num_funcs; i++) {
        const calotype_profiler_func_stats &func = p.funcs[i];
        if (func.time > 0 || func.memory_total > 0 || func.stack_peak > 0) {
            print_func(user_context, func, p, billed);
        }
    }
}

void write_string(FILE *out, const char *text) {
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') {
            fputc('\\', out);
            fputc(*text, out);
        } else if ((unsigned char)*text < 0x20) {
            fprintf(out, "\\u%04x", unsigned(*text));
        } else {
            fputc(*text, out);
        }
    }
    fputc('"', out);
}

void write_number(FILE *out, const char *name, uint64_t value) {
    fprintf(out, ", \"%s\": %llu", name, (unsigned long long)value);
}

const char *kind_name(int kind) {
    static const char *const names[] = {"compute", "overhead", "malloc", "copy_to_host",
                                        "copy_to_device"};
    return kind >= 0 && kind < int(sizeof names / sizeof names[0]) ? names[kind] : "other";
}

void write_func(FILE *out, const calotype_profiler_func_stats &func) {
    fprintf(out, "      {\"name\": ");
    write_string(out, func.name);
    fprintf(out, ", \"kind\": \"%s\"", kind_name(func.kind));
    write_number(out, "time_ns", func.time);
    write_number(out, "active_threads_numerator", func.active_threads_numerator);
    write_number(out, "active_threads_denominator", func.active_threads_denominator);
    write_number(out, "num_allocs", uint64_t(func.num_allocs));
    write_number(out, "memory_peak", func.memory_peak);
    write_number(out, "memory_total", func.memory_total);
    write_number(out, "stack_peak", func.stack_peak);
    fputc('}', out);
}

void write_pipeline(FILE *out, const calotype_profiler_pipeline_stats &p) {
    fprintf(out, "    {\"name\": ");
    write_string(out, p.name);
    write_number(out, "time_ns", p.time);
    write_number(out, "runs", uint64_t(p.runs));
    write_number(out, "samples", uint64_t(p.samples));
    write_number(out, "num_allocs", uint64_t(p.num_allocs));
    write_number(out, "memory_peak", p.memory_peak);
    write_number(out, "memory_total", p.memory_total);
    write_number(out, "active_threads_numerator", p.active_threads_numerator);
    write_number(out, "active_threads_denominator", p.active_threads_denominator);
    fprintf(out, ", \"funcs\": [\n");
    for (int i = 0; i < p.num_funcs; i++) {
        write_func(out, p.funcs[i]);
        fprintf(out, i + 1 < p.num_funcs ? ",\n" : "\n");
    }
    fprintf(out, "    ]}");
}

bool write_json(const char *filename, const calotype_profiler_state &state) {
    FILE *out = fopen(filename, "w");
    if (!out) {
        return false;
    }
    fprintf(out, "{\n  \"pipelines\": [\n");
    bool first = true;
    for (const auto *p = state.pipelines; p; p = p->next) {
        if (p->runs > 0) {
            fprintf(out, first ? "" : ",\n");
            write_pipeline(out, *p);
            first = false;
        }
    }
    fprintf(out, "\n  ]\n}\n");
    return fclose(out) == 0;
}

}  // namespace

void report_profile(void *user_context, const calotype_profiler_state &state) {
    const char *filename = environment("CT_PROFILER_JSON_OUTPUT");
    if (filename && *filename) {
        if (!write_json(filename, state)) {
            Text t;
            t << "cannot write profile " << filename;
            calotype_error(user_context, t.c_str());
        }
        return;
    }
    for (const auto *p = state.pipelines; p; p = p->next) {
        if (p->runs > 0) {
            print_pipeline(user_context, *p);
        }
    }
}

}  // namespace calotype::runtime
