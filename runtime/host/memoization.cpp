// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cache behind memoize().
//
// An entry is one result: key, region, and for each value of the Func a block of memory. Entries
// stand in a hash table and, by use, in a list. In front of each block's memory stands its entry,
// null while the result is being computed, so that the host pointer alone leads back to it. An
// entry counts the blocks in use; only entries without any are dropped for space.
//
// The memory outlives the call that asked for it, so calotype_malloc and calotype_free are called as
// for no call: what an application has in their place for that call alone is not asked.
#include "runtime/abi/memoization.h"

#include <new>
#include <stdlib.h>
#include <string.h>

#include "runtime/abi/buffer.h"
#include "runtime/abi/errors.h"
#include "runtime/abi/memory.h"
#include "runtime/host/fork_mutex.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

namespace {

struct Entry;

/** In front of the memory of one value. */
struct BlockHeader {
    Entry *entry;
};
constexpr size_t header_size = calotype_malloc_alignment;
static_assert(sizeof(BlockHeader) <= header_size, "the header must keep the alignment");

BlockHeader *header_of(void *host) {
    return reinterpret_cast<BlockHeader *>(static_cast<uint8_t *>(host) - header_size);
}

/** A buffer's shape and memory, as the cache keeps them. */
struct Value {
    uint8_t *host;
    calotype_type_t type;
    calotype_dimension_t *dim;
    uint64_t bytes;
};

struct Entry {
    Entry *next_in_bucket;
    Entry *more_recent, *less_recent;
    uint32_t hash;
    int32_t key_size;
    uint8_t *key;
    int32_t bounds_dimensions;
    calotype_dimension_t *bounds;
    int32_t count;  ///< of values
    Value *values;
    uint64_t bytes;
    int32_t in_use;  ///< values whose memory somebody uses
    bool has_eviction_key;
    bool orphaned;  ///< no longer in table and list: goes with its last user
    uint64_t eviction_key;
};

/** What is asked for. */
struct Query {
    const uint8_t *key;
    int32_t key_size;
    const calotype_buffer_t *bounds;
    int32_t count;
    calotype_buffer_t **buffers;
    uint32_t hash;
};

uint32_t hash_bytes(const void *data, size_t size, uint32_t hash) {
    const uint8_t *bytes = static_cast<const uint8_t *>(data);
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ bytes[i]) * 16777619u;
    }
    return hash;
}

Query make_query(const uint8_t *key, int32_t key_size, const calotype_buffer_t *bounds,
                 int32_t count, calotype_buffer_t **buffers) {
    uint32_t hash = hash_bytes(key, size_t(key_size), 2166136261u);
    hash = hash_bytes(bounds->dim, size_t(bounds->dimensions) * sizeof *bounds->dim, hash);
    return {key, key_size, bounds, count, buffers, hash};
}

bool same_dimensions(const calotype_dimension_t *a, const calotype_dimension_t *b, int count) {
    for (int d = 0; d < count; d++) {
        if (a[d] != b[d]) {
            return false;
        }
    }
    return true;
}

bool matches(const Entry &entry, const Query &query) {
    if (entry.hash != query.hash || entry.key_size != query.key_size ||
        entry.count != query.count || entry.bounds_dimensions != query.bounds->dimensions ||
        memcmp(entry.key, query.key, size_t(query.key_size)) != 0 ||
        !same_dimensions(entry.bounds, query.bounds->dim, entry.bounds_dimensions)) {
        return false;
    }
    for (int i = 0; i < entry.count; i++) {
        const calotype_buffer_t &buffer = *query.buffers[i];
        if (entry.values[i].type != buffer.type || buffer.dimensions != entry.bounds_dimensions ||
            !same_dimensions(entry.values[i].dim, buffer.dim, buffer.dimensions)) {
            return false;
        }
    }
    return true;
}

class Cache {
public:
    Entry *find(const Query &query);
    void use(Entry &entry);
    /** Enter what `query.buffers` hold, unless there is an entry already. */
    int store(const Query &query, bool has_eviction_key, uint64_t eviction_key);
    void evict(uint64_t eviction_key);
    void release(void *host);
    void set_size(int64_t size);
    void clear();

    ForkMutex mutex;

private:
    static constexpr uint64_t default_size = 1 << 20;
    static constexpr uint32_t buckets = 256;

    Entry *table[buckets] = {};
    Entry *most_recent = nullptr, *least_recent = nullptr;
    uint64_t max_bytes = default_size;
    uint64_t bytes = 0;

    Entry *&bucket_of(uint32_t hash) {
        return table[(hash ^ hash >> 16) % buckets];
    }
    void link_as_most_recent(Entry &entry);
    void unlink(Entry &entry);
    void drop(Entry &entry);
    void prune();
};

constinit Cache cache;

/** An entry with its key, bounds and shapes in one piece of memory; null if there is none. */
Entry *make_entry(const Query &query) {
    const size_t dims = size_t(query.bounds->dimensions);
    const size_t count = size_t(query.count);
    const size_t size = sizeof(Entry) + count * sizeof(Value) +
                        (count + 1) * dims * sizeof(calotype_dimension_t) + size_t(query.key_size);
    void *memory = malloc(size);
    if (!memory) {
        return nullptr;
    }
    Entry *entry = new (memory) Entry();
    entry->values = reinterpret_cast<Value *>(entry + 1);
    entry->bounds = reinterpret_cast<calotype_dimension_t *>(entry->values + count);
    entry->key = reinterpret_cast<uint8_t *>(entry->bounds + (count + 1) * dims);
    entry->hash = query.hash;
    entry->key_size = query.key_size;
    memcpy(entry->key, query.key, size_t(query.key_size));
    entry->bounds_dimensions = query.bounds->dimensions;
    memcpy(static_cast<void *>(entry->bounds), query.bounds->dim, dims * sizeof *entry->bounds);
    entry->count = query.count;
    for (size_t i = 0; i < count; i++) {
        const calotype_buffer_t &buffer = *query.buffers[i];
        calotype_dimension_t *dim = entry->bounds + (i + 1) * dims;
        memcpy(static_cast<void *>(dim), buffer.dim, dims * sizeof *dim);
        entry->values[i] = {buffer.host, buffer.type, dim, buffer.size_in_bytes()};
        entry->bytes += entry->values[i].bytes;
    }
    return entry;
}

Entry *Cache::find(const Query &query) {
    for (Entry *entry = bucket_of(query.hash); entry; entry = entry->next_in_bucket) {
        if (matches(*entry, query)) {
            return entry;
        }
    }
    return nullptr;
}

void Cache::link_as_most_recent(Entry &entry) {
    entry.more_recent = nullptr;
    entry.less_recent = most_recent;
    (most_recent ? most_recent->more_recent : least_recent) = &entry;
    most_recent = &entry;
}

void Cache::unlink(Entry &entry) {
    (entry.more_recent ? entry.more_recent->less_recent : most_recent) = entry.less_recent;
    (entry.less_recent ? entry.less_recent->more_recent : least_recent) = entry.more_recent;
}

/** Somebody uses all values of an entry. */
void Cache::use(Entry &entry) {
    entry.in_use += entry.count;
    unlink(entry);
    link_as_most_recent(entry);
}

void free_entry(Entry &entry) {
    for (int i = 0; i < entry.count; i++) {
        calotype_free(nullptr, header_of(entry.values[i].host));
    }
    free(&entry);
}

/** Take an entry out of table and list; free it as soon as nobody uses it. */
void Cache::drop(Entry &entry) {
    Entry **place = &bucket_of(entry.hash);
    while (*place != &entry) {
        place = &(*place)->next_in_bucket;
    }
    *place = entry.next_in_bucket;
    unlink(entry);
    bytes -= entry.bytes;
    entry.orphaned = true;
    if (entry.in_use == 0) {
        free_entry(entry);
    }
}

/** Drop what is not in use, the least recent first, until the rest fits. A result is in use when it
 * is stored, so that one which is larger than the cache is there for the next call, if no other is
 * stored before. */
void Cache::prune() {
    Entry *next;
    for (Entry *entry = least_recent; entry && bytes > max_bytes; entry = next) {
        next = entry->more_recent;
        if (entry->in_use == 0) {
            drop(*entry);
        }
    }
}

int Cache::store(const Query &query, bool has_eviction_key, uint64_t eviction_key) {
    if (find(query)) {
        return 0;  // Another thread was faster. Our blocks go when they are released.
    }
    Entry *entry = make_entry(query);
    if (!entry) {
        return 0;  // Not cached, then; the result is right all the same.
    }
    entry->has_eviction_key = has_eviction_key;
    entry->eviction_key = eviction_key;
    entry->in_use = entry->count;
    for (int i = 0; i < entry->count; i++) {
        header_of(entry->values[i].host)->entry = entry;
    }
    Entry *&bucket = bucket_of(entry->hash);
    entry->next_in_bucket = bucket;
    bucket = entry;
    link_as_most_recent(*entry);
    bytes += entry->bytes;
    prune();
    return 0;
}

void Cache::evict(uint64_t eviction_key) {
    Entry *next;
    for (Entry *entry = least_recent; entry; entry = next) {
        next = entry->more_recent;
        if (entry->has_eviction_key && entry->eviction_key == eviction_key) {
            drop(*entry);
        }
    }
}

void Cache::release(void *host) {
    BlockHeader *header = header_of(host);
    Entry *entry = header->entry;
    if (!entry) {
        calotype_free(nullptr, header);
        return;
    }
    if (--entry->in_use > 0) {
        return;
    }
    if (entry->orphaned) {
        free_entry(*entry);
    }
}

void Cache::set_size(int64_t size) {
    max_bytes = size > 0 ? uint64_t(size) : default_size;
    prune();
}

void Cache::clear() {
    while (most_recent) {
        drop(*most_recent);
    }
}

/** Fresh memory for the buffers of a query, whose strides are positive. Returns 0 or an error code.
 */
int allocate_blocks(void *user_context, const Query &query) {
    for (int i = 0; i < query.count; i++) {
        calotype_buffer_t &buffer = *query.buffers[i];
        void *block = calotype_malloc(nullptr, buffer.size_in_bytes() + header_size);
        if (!block) {
            while (i-- > 0) {
                calotype_free(nullptr, header_of(query.buffers[i]->host));
                query.buffers[i]->host = nullptr;
            }
            return calotype_error_out_of_memory(user_context);
        }
        new (block) BlockHeader{nullptr};
        buffer.host = static_cast<uint8_t *>(block) + header_size;
    }
    return 0;
}

/** At exit, so that what the cache holds is not taken for a leak. */
__attribute__((destructor)) void end_of_process() {
    LockGuard lock(cache.mutex);
    cache.clear();
}

}  // namespace

CALOTYPE_WEAK void calotype_memoization_cache_set_size(int64_t size) {
    LockGuard lock(cache.mutex);
    cache.set_size(size);
}

CALOTYPE_WEAK int calotype_memoization_cache_lookup(void *user_context, const uint8_t *cache_key,
                                                    int32_t size,
                                                    calotype_buffer_t *realized_bounds,
                                                    int32_t tuple_count,
                                                    calotype_buffer_t **tuple_buffers) {
    const Query query = make_query(cache_key, size, realized_bounds, tuple_count, tuple_buffers);
    {
        LockGuard lock(cache.mutex);
        if (Entry *entry = cache.find(query)) {
            cache.use(*entry);
            for (int i = 0; i < tuple_count; i++) {
                tuple_buffers[i]->host = entry->values[i].host;
                tuple_buffers[i]->set_host_dirty();  // a device has no copy of it
            }
            return 0;
        }
    }
    const int code = allocate_blocks(user_context, query);
    return code ? code : 1;
}

CALOTYPE_WEAK int calotype_memoization_cache_store(void *user_context, const uint8_t *cache_key,
                                                   int32_t size, calotype_buffer_t *realized_bounds,
                                                   int32_t tuple_count,
                                                   calotype_buffer_t **tuple_buffers,
                                                   bool has_eviction_key, uint64_t eviction_key) {
    const Query query = make_query(cache_key, size, realized_bounds, tuple_count, tuple_buffers);
    LockGuard lock(cache.mutex);
    return cache.store(query, has_eviction_key, eviction_key);
}

CALOTYPE_WEAK void calotype_memoization_cache_evict(void *user_context, uint64_t eviction_key) {
    LockGuard lock(cache.mutex);
    cache.evict(eviction_key);
}

CALOTYPE_WEAK void calotype_memoization_cache_release(void *user_context, void *host) {
    LockGuard lock(cache.mutex);
    cache.release(host);
}

CALOTYPE_WEAK void calotype_memoization_cache_cleanup(void) {
    LockGuard lock(cache.mutex);
    cache.clear();
}
