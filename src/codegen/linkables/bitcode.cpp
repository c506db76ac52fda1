// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/linkables/bitcode.h"

#include <memory>

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Triple.h>

#include "codegen/linkables/linkable.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

llvm::MemoryBufferRef buffer_of(const LinkableImage &image) {
    return {image.bytes, image.origin};
}

/// "LLVM 20.1.0" where the file says so.
std::string producer_of(const LinkableImage &image) {
    llvm::Expected<std::string> producer = llvm::getBitcodeProducerString(buffer_of(image));
    if (!producer) {
        llvm::consumeError(producer.takeError());
        return "";
    }
    return starts_with(*producer, "LLVM") ? "LLVM " + producer->substr(4) : *producer;
}

[[noreturn]] void refuse(const BitcodeImage &bitcode, llvm::Error error) {
    const std::string reason = llvm::toString(std::move(error));
    const std::string producer = producer_of(*bitcode.image);
    user_error << linkable_title(*bitcode.linkable, *bitcode.image)
               << " cannot be read as LLVM bitcode by LLVM " LLVM_VERSION_STRING
               << (producer.empty() ? "" : "; " + producer + " wrote it") << ": " << reason;
}

std::unique_ptr<llvm::Module> read_bitcode(const BitcodeImage &bitcode,
                                           llvm::LLVMContext &context) {
    auto module = llvm::getOwningLazyBitcodeModule(
        llvm::MemoryBuffer::getMemBufferCopy(bitcode.image->bytes, bitcode.image->origin), context);
    if (!module) {
        refuse(bitcode, module.takeError());
    }
    return std::move(*module);
}

/// Kernels: by their calling convention, or as annotations say.
std::set<std::string> kernels_of(const llvm::Module &module) {
    std::set<std::string> names;
    for (const llvm::Function &f : module) {
        if (f.getCallingConv() == llvm::CallingConv::PTX_Kernel) {
            names.insert(f.getName().str());
        }
    }
    const llvm::NamedMDNode *annotations = module.getNamedMetadata("nvvm.annotations");
    for (unsigned i = 0; annotations && i < annotations->getNumOperands(); i++) {
        const llvm::MDNode *node = annotations->getOperand(i);
        const auto *function =
            node->getNumOperands() >= 2
                ? llvm::dyn_cast_or_null<llvm::ValueAsMetadata>(node->getOperand(0).get())
                : nullptr;
        const auto *key =
            function ? llvm::dyn_cast<llvm::MDString>(node->getOperand(1).get()) : nullptr;
        if (key && key->getString() == "kernel") {
            names.insert(function->getValue()->getName().str());
        }
    }
    return names;
}

/// Errors of LLVM's linker, which it only tells the context.
class LinkErrors {
public:
    explicit LinkErrors(llvm::LLVMContext &context)
        : context_(context), before_(context.getDiagnosticHandler()) {
        context.setDiagnosticHandler(std::make_unique<Handler>(text_));
    }
    ~LinkErrors() {
        context_.setDiagnosticHandler(std::move(before_));
    }
    const std::string &text() const {
        return text_;
    }

private:
    struct Handler : llvm::DiagnosticHandler {
        explicit Handler(std::string &text) : text(text) {
        }
        bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
            if (info.getSeverity() == llvm::DS_Error) {
                llvm::raw_string_ostream stream(text);
                llvm::DiagnosticPrinterRawOStream printer(stream);
                info.print(printer);
            }
            return true;
        }
        std::string &text;
    };

    llvm::LLVMContext &context_;
    std::unique_ptr<llvm::DiagnosticHandler> before_;
    std::string text_;
};

/// What is said of the machine is what the module that it goes into says.
void adapt(llvm::Module &from, const llvm::Module &to) {
    from.setDataLayout(to.getDataLayout());
    from.setTargetTriple(to.getTargetTriple());
    if (llvm::NamedMDNode *flags = from.getModuleFlagsMetadata()) {
        from.eraseNamedMetadata(flags);
    }
}

/// A linker pulls in what is declared: functions wanted, kernels, variables that others see.
void declare_wanted(const llvm::Module &from, llvm::Module &to,
                    const std::set<std::string> &wanted) {
    const std::set<std::string> kernels = kernels_of(from);
    for (const llvm::Function &f : from) {
        const std::string name = f.getName().str();
        if (!f.isDeclaration() && !f.hasLocalLinkage() && !to.getNamedValue(name) &&
            (wanted.count(name) || kernels.count(name))) {
            llvm::Function::Create(f.getFunctionType(), llvm::GlobalValue::ExternalLinkage, name,
                                   to);
        }
    }
    for (const llvm::GlobalVariable &g : from.globals()) {
        if (!g.isDeclaration() && !g.hasLocalLinkage() && !g.hasAppendingLinkage() &&
            !to.getNamedValue(g.getName())) {
            new llvm::GlobalVariable(to, g.getValueType(), g.isConstant(),
                                     llvm::GlobalValue::ExternalLinkage, nullptr, g.getName(),
                                     nullptr, g.getThreadLocalMode(), g.getAddressSpace());
        }
    }
}

void link(llvm::Module &to, std::unique_ptr<llvm::Module> from, unsigned flags,
          const std::string &title) {
    LinkErrors errors(to.getContext());
    adapt(*from, to);
    user_assert(!llvm::Linker::linkModules(to, std::move(from), flags))
        << title << " cannot be linked into the code that calls it: " << errors.text();
}

}  // namespace

bool is_bitcode_for_cuda(const BitcodeImage &bitcode) {
    return is_bitcode_for(bitcode, "nvptx64-nvidia-cuda");
}

bool is_bitcode_for(const BitcodeImage &bitcode, const std::string &triple) {
    if (bitcode.image->kind != CALOTYPE_BITCODE) {
        return false;
    }
    llvm::Expected<std::string> text = llvm::getBitcodeTargetTriple(buffer_of(*bitcode.image));
    if (!text) {
        refuse(bitcode, text.takeError());
    }
    const llvm::Triple wanted(triple), found(*text);
    return found.getArch() == wanted.getArch() &&
           (wanted.isNVPTX() || found.getOS() == wanted.getOS());
}

std::vector<BitcodeImage> bitcode_for(const LinkedCode &linked, const std::string &triple) {
    std::vector<BitcodeImage> list;
    for (const LinkableData &linkable : linked.linkables) {
        for (const LinkableImage &image : linkable.images) {
            if (is_bitcode_for({&linkable, &image}, triple)) {
                list.push_back({&linkable, &image});
            }
        }
    }
    return list;
}

BitcodeSymbols bitcode_symbols(const BitcodeImage &bitcode) {
    llvm::LLVMContext context;
    const std::unique_ptr<llvm::Module> module = read_bitcode(bitcode, context);
    BitcodeSymbols symbols;
    for (const llvm::GlobalValue &g : module->global_values()) {
        const std::string name = g.getName().str();
        if (g.hasLocalLinkage() || starts_with(name, "llvm.")) {
            continue;
        }
        (g.isDeclaration() ? symbols.undefined : symbols.defined).insert(name);
        if (!g.isDeclaration() && llvm::isa<llvm::Function>(g)) {
            symbols.functions.insert(name);
        }
        if (g.isWeakForLinker()) {
            symbols.weak.insert(name);
        }
    }
    return symbols;
}

void link_bitcode(llvm::Module &module, const std::vector<BitcodeImage> &bitcode,
                  const std::set<std::string> &wanted) {
    if (bitcode.empty()) {
        return;
    }
    std::string titles = linkable_title(*bitcode[0].linkable, *bitcode[0].image);
    std::unique_ptr<llvm::Module> library = read_bitcode(bitcode[0], module.getContext());
    // Several are one library first, as they may call each other.
    for (size_t i = 1; i < bitcode.size(); i++) {
        const std::string title = linkable_title(*bitcode[i].linkable, *bitcode[i].image);
        link(*library, read_bitcode(bitcode[i], module.getContext()), 0, title);
        titles += ", " + title;
    }
    llvm::StripDebugInfo(*library);
    declare_wanted(*library, module, wanted);
    link(module, std::move(library), llvm::Linker::Flags::LinkOnlyNeeded, titles);
    for (llvm::Function &f : module) {
        for (const char *attribute : {"target-cpu", "target-features", "tune-cpu",
                                      "min-legal-vector-width", "stack-protector-buffer-size"}) {
            f.removeFnAttr(attribute);
        }
        // Compiled without optimisation; it gets that here.
        if (f.hasFnAttribute(llvm::Attribute::OptimizeNone)) {
            f.removeFnAttr(llvm::Attribute::OptimizeNone);
            f.removeFnAttr(llvm::Attribute::NoInline);
        }
    }
}

void internalize(llvm::Module &module, const std::set<std::string> &functions) {
    const std::set<std::string> kernels = kernels_of(module);
    for (llvm::Function &f : module) {
        const std::string name = f.getName().str();
        if (!f.isDeclaration() && functions.count(name) && !kernels.count(name)) {
            f.setLinkage(llvm::GlobalValue::InternalLinkage);
            f.setComdat(nullptr);
        }
    }
}

}  // namespace calotype::internal
