// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linkable: device code of a third party that a pipeline links, with host functions that prepare
// it. docs/linkables.md tells what it is for.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ir/linkable.h"
#include "ir/symbol.h"
#include "support/intrusive_ptr.h"

namespace calotype {

namespace internal {

/// The data behind Linkable, never changed once made.
struct LinkableContents : RefCounted {
    LinkableData data;
    std::vector<std::string> digests;  ///< SHA-256 of each image's bytes
};

}  // namespace internal

/// A value: the members that set something return a changed copy. Undefined by default.
///
///     Linkable rng = Linkable::from_path("rng.ltoir").setup("rng_setup").teardown("rng_teardown");
///
/// Two are one linkable if their code, callbacks and user symbol are the same.
class Linkable {
public:
    Linkable() = default;
    /// Reads the file. Its kind follows from the extension and must be what the file holds. The
    /// name is the file's without folder and extension. CompileErrors name file, kind found and
    /// kind expected.
    static Linkable from_path(const std::string &path);
    /// The same where the extension says nothing.
    static Linkable from_path(const std::string &path, calotype_kind kind);
    static Linkable from_bytes(calotype_kind kind, const std::string &bytes,
                               const std::string &name);
    static Linkable from_bytes(calotype_kind kind, const void *data, size_t size,
                               const std::string &name);
    /// Callbacks without code.
    static Linkable host_only(const std::string &name);
    /// One in the form of the command line: "rng.ltoir;setup=rng_setup;nrt" or "@manifest.json".
    static Linkable from_text(const std::string &text);
    /// A list of any length in that form, with commas.
    static std::vector<Linkable> list_from_text(const std::string &text);
    /// A list in that form. What was made from bytes is called by its name there.
    static std::string list_to_text(const std::vector<Linkable> &list);

    /// The same code in one more form: another architecture, PTX beside cubins, host bitcode.
    [[nodiscard]] Linkable add_path(const std::string &path) const;
    [[nodiscard]] Linkable add_path(const std::string &path, calotype_kind kind) const;
    [[nodiscard]] Linkable add_image(calotype_kind kind, const std::string &bytes) const;

    /// Names of extern "C" functions of the host that are called when a module that holds this has
    /// been loaded, and before it is unloaded; and of an object that both are handed.
    [[nodiscard]] Linkable setup(const std::string &function) const;
    [[nodiscard]] Linkable teardown(const std::string &function) const;
    [[nodiscard]] Linkable user(const std::string &symbol) const;
    /// It uses the device runtime.
    [[nodiscard]] Linkable nrt(bool on = true) const;
    [[nodiscard]] Linkable lto(LtoMode mode) const;
    /// Set up after the linkable of that name, which is linked too.
    [[nodiscard]] Linkable after(const std::string &name) const;
    /// Its host symbols may be missing.
    [[nodiscard]] Linkable optional(bool on = true) const;
    /// Its callbacks may run concurrently.
    [[nodiscard]] Linkable threadsafe(bool on = true) const;
    /// Its code depends on this session: it is never written to a persistent store.
    [[nodiscard]] Linkable session(bool on = true) const;
    /// No teardown where the context was lost.
    [[nodiscard]] Linkable no_teardown_after_loss(bool on = true) const;
    /// Linked even if nothing calls it.
    [[nodiscard]] Linkable pinned(bool on = true) const;
    /// Off: the object holds the file's path and digest, and the file is read when it is loaded.
    [[nodiscard]] Linkable embed(bool on) const;
    [[nodiscard]] Linkable name(const std::string &name) const;
    /// The generator parameter that it comes from, which messages say.
    [[nodiscard]] Linkable parameter(const std::string &name) const;
    /// What the image added last is for, where its content does not tell: 90, 'a' for compute
    /// capability 9.0a.
    [[nodiscard]] Linkable sm(int number, char suffix = 0) const;

    bool defined() const {
        return contents_.defined();
    }
    /// Precondition of all below: defined().
    const std::string &name() const {
        return contents_->data.name;
    }
    const LinkableData &data() const {
        return contents_->data;
    }
    /// SHA-256 of each image, in order.
    const std::vector<std::string> &digests() const {
        return contents_->digests;
    }
    /// One and the same linkable: equal images, callbacks and user symbol.
    bool same_as(const Linkable &other) const;
    /// "'rng' (parameter noise, lib/rng.ltoir)": name, parameter and files, for messages.
    std::string description() const;

private:
    explicit Linkable(internal::LinkableContents *contents) : contents_(contents) {
    }
    Linkable with_image(LinkableImage image) const;
    template<typename Change>
    Linkable with(const Change &change) const;
    internal::IntrusivePtr<const internal::LinkableContents> contents_;
};

namespace internal {

/// As Linkable::same_as and Linkable::description.
bool same_linkable(const LinkableData &a, const LinkableData &b);
std::string linkable_description(const LinkableData &data);

/// "int32(int32, float32x4)".
std::string to_string(const LinkedFunction &signature);

/// The Symbol of a function or variable that a linkable supplies; it is named as the linkable.
struct LinkedDeclaration : Symbol {
    LinkedDeclaration(Linkable from, LinkedFunction signature)
        : Symbol(SymbolKind::Linkable, from.name()), linkable(std::move(from)),
          signature(std::move(signature)) {
    }
    const Linkable linkable;
    const LinkedFunction signature;  ///< of a function
};

}  // namespace internal

}  // namespace calotype
