// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the directory store opens what is in it: never through a link that somebody else made.
#pragma once

#include "runtime/device/store_dir.h"
#include "runtime/host/files.h"

namespace calotype {
namespace runtime {

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

}  // namespace runtime
}  // namespace calotype
