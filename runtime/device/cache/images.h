// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images that were made in this process: one for each kind of device, shared by all contexts.
#pragma once

#include "runtime/device/cache/errors.h"
#include "runtime/device/cache/table.h"

namespace calotype::runtime {

struct CachedImage;

/** An image in use. */
struct ImageUse {
    LoadableImage image;
    CachedImage *cached;  ///< null: embedded, or the user's own
};

/** The image for a module: out of the cache, from another thread that is about to make it, from the
 * persistent store, or made here. On success the caller ends the use. A failure is described in
 * *error (one reference; null if it found no memory). Called without the lock. */
calotype_status use_image(ContextState &context, const DeviceScope &scope,
                          const calotype_module_desc &desc, ThreadBlock &me, ImageUse *use,
                          FlightError **error);
void end_image_use(ImageUse &use);

/** Drop images of a module: the bytes, or the failures to make them. The lock is held. */
void drop_images(const calotype_uid &uid);
void forget_failed_images(const calotype_uid &uid);
/** Drop all that is not in use. The lock is held. */
void drop_all_images();
/** Drop the least recently used until all fit the limit. The lock is held. */
void limit_images();
/** In a child process: others that were about to make images are no more. The lock is held. */
void forget_image_flights();

}  // namespace calotype::runtime
