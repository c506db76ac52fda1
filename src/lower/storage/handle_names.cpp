// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/storage/handle_names.h"

#include "ir/visitor.h"

namespace calotype {

using namespace internal;

std::unordered_set<std::string> handle_names(const Stmt &s) {
    class HandleVariables : public GraphVisitor {
    public:
        std::unordered_set<std::string> names;

    private:
        using GraphVisitor::visit;
        void visit(const Variable *op) override {
            if (op->type.is_handle()) {
                names.insert(op->name);
            }
        }
    } handles;
    handles(s);
    return std::move(handles.names);
}

}  // namespace calotype
