// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstring>
#include <sstream>
#include <thread>

#include "harness/cache_stats.h"
#include "harness/on_context.h"
#include "runtime/cache/scenario_fixture.h"

namespace calotype_test {

namespace {

/// Not a good hash, but different for different texts.
calotype_uid uid_of_text(const std::string &text) {
    calotype_uid uid = {};
    uint64_t h = 0xcbf29ce484222325u;
    for (int word = 0; word < 4; word++) {
        for (char c : text) {
            h = (h ^ uint8_t(c)) * 0x100000001b3u;
        }
        h += uint64_t(word);
        memcpy(uid.b + 8 * word, &h, 8);
    }
    return uid;
}

/// Linkables live in the bodies of tests, modules until the cache is shut down.
struct Living {
    std::mutex lock;
    std::set<const void *> linkables;
};
Living &living() {
    static Living &living = *new Living;
    return living;
}

const TestLinkable *find_linkable(const void *user) {
    std::lock_guard<std::mutex> guard(living().lock);
    return living().linkables.count(user) ? static_cast<const TestLinkable *>(user) : nullptr;
}

int setup_called(const calotype_callback_args *args) {
    call_log().add(*args);
    const TestLinkable *linkable = find_linkable(args->user);
    return linkable && linkable->on_setup ? linkable->on_setup(*args) : 0;
}

int teardown_called(const calotype_callback_args *args) {
    call_log().add(*args);
    const TestLinkable *linkable = find_linkable(args->user);
    return linkable && linkable->on_teardown ? linkable->on_teardown(*args) : 0;
}

}  // namespace

int ScenarioDriver::read_global(void *user_context, const calotype_hold &hold, uint32_t kernel) {
    int32_t value = 0;
    void *to = &value, *args[] = {&to};
    const uint32_t one[3] = {1, 1, 1};
    EXPECT_EQ(CALOTYPE_OK, calotype_launch(user_context, hold, kernel, one, one, 0, nullptr, args));
    return value;
}

TestLinkable::TestLinkable(const std::string &name, bool setup, bool teardown) : name(name) {
    desc.size = sizeof desc;
    desc.name = this->name.c_str();
    desc.content = uid_of_text(name);
    desc.setup = setup ? setup_called : nullptr;
    desc.teardown = teardown ? teardown_called : nullptr;
    desc.user = this;
    std::lock_guard<std::mutex> guard(living().lock);
    living().linkables.insert(this);
}

TestLinkable::~TestLinkable() {
    std::lock_guard<std::mutex> guard(living().lock);
    living().linkables.erase(this);
}

void CallLog::add(const calotype_callback_args &args) {
    std::lock_guard<std::mutex> guard(lock);
    calls.push_back((args.event == CALOTYPE_EV_SETUP ? "s:" : "t:") + std::string(args.self->name));
    modules[args.event == CALOTYPE_EV_TEARDOWN].insert(args.module);
}

void CallLog::clear() {
    std::lock_guard<std::mutex> guard(lock);
    calls.clear();
    modules[0].clear();
    modules[1].clear();
}

std::string CallLog::text() {
    std::lock_guard<std::mutex> guard(lock);
    std::string text;
    for (const std::string &call : calls) {
        text += (text.empty() ? "" : " ") + call;
    }
    return text;
}

size_t CallLog::distinct_modules(calotype_event event) {
    std::lock_guard<std::mutex> guard(lock);
    return modules[event == CALOTYPE_EV_TEARDOWN].size();
}

CallLog &call_log() {
    static CallLog &log = *new CallLog;  // callbacks at exit still use it
    return log;
}

void Scenario::SetUp() {
    calotype_set_store_dir(nullptr, 0, CALOTYPE_STORE_OFF);
    call_log().clear();
    driver = GetParam()();
    calotype_reset_stats();
}

void Scenario::TearDown() {
    EXPECT_EQ(CALOTYPE_OK, calotype_shutdown(5000)) << calotype_last_error()->log;
    RecordProperty("counts", counts());  // for tables: --gtest_output=json
    const calotype_stats s = stats();
    EXPECT_EQ(0u, s.live_modules);
    EXPECT_EQ(0u, s.live_bytes);
    EXPECT_EQ(0u, s.holds);
    EXPECT_EQ(0u, s.image_bytes);
    EXPECT_EQ(s.loads, s.unloads + lost_modules);
    if (has_teardown_for_each_setup) {
        EXPECT_EQ(s.setups_ok, s.teardowns);
    }
    EXPECT_EQ(calls - refused, s.hits + s.waits + s.misses + s.negative_hits);
    if (driver->live_modules() >= 0) {
        EXPECT_EQ(0, driver->live_modules());
    }
    EXPECT_EQ(0, driver->misuse());
    const calotype_limits none = {sizeof none, CALOTYPE_POLICY_LRU, 0, 0, 0, 0};
    calotype_set_limits(&none);
    driver.reset();
}

calotype_module_desc *Scenario::module(const std::string &name,
                                       std::vector<const TestLinkable *> linkables,
                                       ScenarioCode code) {
    auto made = std::make_unique<TestModule>();
    TestModule &m = *made;
    modules.push_back(std::move(made));
    code.name = name;
    m.name = name;
    m.data = driver->image(code);
    m.image = {m.data.kind, m.data.sm, 0, m.data.data.c_str(), m.data.data.size()};
    static const calotype_kernel_arg pointer = {1, 8, 0, 1};
    m.kernels.push_back({"k0", nullptr, 0, 0, 0, 0});
    if (code.reads_global) {
        m.kernels.push_back({"read", &pointer, 1, 0, 0, 0});
    }
    std::string content = m.data.data;
    for (const TestLinkable *linkable : linkables) {
        m.linkables.push_back(&linkable->desc);
        content += "+" + linkable->name;
    }
    m.desc.size = sizeof m.desc;
    m.desc.abi = CALOTYPE_ABI_VERSION;
    m.desc.name = m.name.c_str();
    m.desc.uid = uid_of_text(content);
    m.desc.device_interface = driver->device_interface();
    m.desc.images = &m.image;
    m.desc.n_images = 1;
    m.desc.kernels = m.kernels.data();
    m.desc.n_kernels = uint32_t(m.kernels.size());
    m.desc.linkables = m.linkables.data();
    m.desc.n_linkables = uint32_t(m.linkables.size());
    return &m.desc;
}

calotype_status Scenario::try_hold(void *context, const calotype_module_desc *desc,
                                   calotype_hold *hold) {
    calls++;
    const calotype_status status = calotype_initialize_kernels(context, desc, nullptr, hold);
    EXPECT_EQ(status == CALOTYPE_OK, hold->entry != nullptr);
    EXPECT_TRUE(status == CALOTYPE_OK || calotype_last_error()->status == status);
    refused += status == CALOTYPE_E_REENTRANT || status == CALOTYPE_E_DEADLOCK ||
               status == CALOTYPE_E_CLOSING;
    return status;
}

calotype_hold Scenario::hold(void *context, const calotype_module_desc *desc) {
    calotype_hold hold = {};
    const calotype_status status = try_hold(context, desc, &hold);
    EXPECT_EQ(CALOTYPE_OK, status) << calotype_last_error()->log;
    return hold;
}

void Scenario::give_back(void *context, calotype_hold &hold) {
    EXPECT_EQ(CALOTYPE_OK, calotype_finalize_kernels(context, &hold));
    EXPECT_EQ(nullptr, hold.entry);
}

void Scenario::run(void *context, const calotype_module_desc *desc) {
    calotype_hold held = hold(context, desc);
    if (!held.entry) {
        return;
    }
    const uint32_t one[3] = {1, 1, 1};
    EXPECT_EQ(CALOTYPE_OK, calotype_launch(context, held, 0, one, one, 0, nullptr, nullptr))
        << calotype_last_error()->log;
    give_back(context, held);
}

calotype_stats Scenario::stats(uint64_t context_uid) {
    return cache_stats(context_uid);
}

std::string Scenario::counts() {
    const calotype_stats s = stats();
    std::ostringstream text;
    text << s.compiles << " " << s.loads << " " << s.setups << " " << s.teardowns << " "
         << s.unloads;
    return text.str();
}

uint64_t Scenario::uid_of(void *context) {
    uint64_t uid = 0;
    EXPECT_EQ(CALOTYPE_OK, calotype_context_uid(on(context), driver->device_interface()(), &uid));
    return uid;
}

void Scenario::in_threads(int n, const std::function<void(int)> &body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < n; i++) {
        threads.emplace_back([&body, i] { body(i); });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
}

}  // namespace calotype_test
