// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lang/schedule/autoscheduler.h"

#include <mutex>

#include "autoschedule/mullapudi2016.h"
#include "lang/pipeline.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype {

namespace {

/// The autoschedulers of the process: ours, and those of programs and plugins.
class Registry {
public:
    Registry() : fns_{{internal::mullapudi2016_name, internal::schedule_by_mullapudi2016}} {
    }
    static Registry &of_process() {
        static Registry registry;
        return registry;
    }
    void add(const std::string &name, const AutoSchedulerFn &fn) {
        std::lock_guard<std::mutex> lock(mutex_);
        user_assert(fns_.emplace(name, fn).second)
            << "autoscheduler '" << name << "' is there already";
    }
    AutoSchedulerFn find(const std::string &name) const {
        std::lock_guard<std::mutex> lock(mutex_);
        const auto place = fns_.find(name);
        std::vector<std::string> known;
        for (const auto &entry : fns_) {
            known.push_back(entry.first);
        }
        const std::string hint = internal::did_you_mean(name, known);
        user_assert(place != fns_.end())
            << "autoscheduler '" << name << "' is not known"
            << (hint.empty() ? (known.size() == 1 ? ", there is " : ", there are ") +
                                   internal::join(known, ", ")
                             : hint);
        return place->second;
    }

private:
    mutable std::mutex mutex_;
    std::map<std::string, AutoSchedulerFn> fns_;
};

}  // namespace

std::string AutoschedulerParams::to_string() const {
    std::string text;
    if (!name.empty()) {
        text = "autoscheduler=" + name;
    }
    for (const auto &[key, value] : extra) {
        text += (text.empty() ? "" : " ") + ("autoscheduler." + key + "=" + value);
    }
    return text;
}

void Pipeline::add_autoscheduler(const std::string &name, const AutoSchedulerFn &autoscheduler) {
    user_assert(autoscheduler != nullptr) << "autoscheduler '" << name << "' is an empty function";
    Registry::of_process().add(name, autoscheduler);
}

AutoSchedulerResults Pipeline::apply_autoscheduler(const Target &target,
                                                   const AutoschedulerParams &params) const {
    checked();
    const AutoSchedulerFn fn = Registry::of_process().find(params.name);
    AutoSchedulerResults results;
    results.target = target;
    results.autoscheduler_params = params;
    fn(*this, target, params, &results);
    return results;
}

}  // namespace calotype
