// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The directory store: `<dir>/v1/<2 hex>/<62 hex>.cko`, one file a key, least recently used first
// out. Many processes share it. What is in it is code, so it must belong to the user alone.
//
// Nothing here is an error for the caller: what cannot be read is not there, what cannot be written
// is dropped. All of it keeps no file open and no state but that of settings and counts, so a
// directory may be removed, or the process fork, at any time.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "runtime/abi/kernel_cache.h"
#include "runtime/host/files.h"

namespace calotype::runtime {

/** Where, how much, and whether at all. */
struct StoreDir {
    char path[4000];
    uint64_t max_bytes;
    bool writable;
};

/** What was set, or what the environment says: CT_KERNEL_CACHE_DIR, else XDG_CACHE_HOME, else HOME;
 * CT_KERNEL_CACHE_MODE is rw, ro or off, and another word counts as off. False: there is no store.
 */
bool get_store_dir(StoreDir *dir);

/** A file as it was when it was read. */
struct FileStamp {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
};

/** Bytes of malloc, and which file had them. A hit makes the file the most recently used one; where
 * there is none *bytes stays as it is. */
bool read_store_file(const StoreDir &dir, const calotype_uid &key, void **bytes, size_t *size,
                     FileStamp *stamp);
/** Whether there is one: nothing about what is in it. */
bool has_store_file(const StoreDir &dir, const calotype_uid &key);
/** Write under another name, sync, rename. *evicted counts files dropped for space. */
bool write_store_file(const StoreDir &dir, const calotype_uid &key, const void *bytes, size_t size,
                      uint64_t *evicted);
/** Null stamp: whatever is there; else only if it still is the file that was read. */
bool remove_store_file(const StoreDir &dir, const calotype_uid &key, const FileStamp *stamp);

/** One process at a time for a key. -1: not locked, because it took longer than `timeout_ms`, the
 * directory cannot be written to or its file system has no locks. The kernel gives up the lock of
 * a process that ends. */
int lock_store_key(const StoreDir &dir, const calotype_uid &key, uint32_t timeout_ms);
void unlock_store_key(const StoreDir &dir, const calotype_uid &key, int lock);

/** Drop the least recently used files until the rest fits, and what others left behind over an hour
 * ago. Answers with the number of files dropped for space. */
uint64_t sweep_store_dir(const StoreDir &dir);

// How the directory store opens what is in it: never through a link that somebody else made.

/** "ab", and the other 62 digits with ".cko" or ".lock" after them. */
struct KeyName {
    char folder[3];
    char image[62 + 5];
    char lock[62 + 6];
};
KeyName name_of_key(const calotype_uid &key);

/** Open the store's own directory, made with mode 0700 if `create`. -1 if it is not there, belongs
 * to another user, or can be written to by others. */
int open_store(const StoreDir &dir, bool create);
/** Open a folder of an open directory, likewise. */
int open_folder(int parent, const char *name, bool create);
/** Open `<dir>/v1/<folder>`. */
int open_key_folder(const StoreDir &dir, const KeyName &name, bool create);

}  // namespace calotype::runtime
