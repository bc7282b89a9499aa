// The few lines of a test framework that the tests need: TEST(name) { CHECK(...); } and `int main() { return
// run_tests(); }`.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

namespace knnmi::test {

struct Case {
    const char* name;
    void (*body)();
};

inline std::vector<Case>& cases() {
    static std::vector<Case> all;
    return all;
}

inline int& failures() {
    static int count = 0;
    return count;
}

// The environment's KNNMI_TEST_SHARE: builds with sanitizers take one of so many random inputs.
inline std::size_t share_divisor() {
    const char* const share = std::getenv("KNNMI_TEST_SHARE");
    const std::size_t divisor = share ? std::strtoul(share, nullptr, 10) : 1;
    return divisor > 1 ? divisor : 1;
}

// That share of so many inputs or rows.
inline std::size_t share_of(std::size_t count) { return (count + share_divisor() - 1) / share_divisor(); }

// Whether the case with a number belongs to it.
inline bool in_share(std::size_t number) { return number % share_divisor() == 0; }

// Data races hardly depend on how many rows there are, and all takes much longer where they are looked for.
#ifdef __SANITIZE_THREAD__
inline constexpr bool looks_for_races = true;
#else
inline constexpr bool looks_for_races = false;
#endif

struct Registration {
    Registration(const char* name, void (*body)()) { cases().push_back({name, body}); }
};

// Reports the first few failures only: a broken search would otherwise print thousands.
inline void expect(bool holds, const char* what, const char* file, int line) {
    if (holds) return;
    if (++failures() <= 20) std::printf("%s:%d: failed: %s\n", file, line, what);
}

inline int run_tests() {
    for (const Case& test : cases()) {
        const int before = failures();
        const auto start = std::chrono::steady_clock::now();
        try {
            test.body();
        } catch (const std::exception& error) {
            ++failures();
            std::printf("%s threw: %s\n", test.name, error.what());
        }
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
        std::printf("%s %6.1f s  %s\n", failures() == before ? "ok    " : "FAILED", taken.count(), test.name);
        std::fflush(stdout);
    }
    return failures() == 0 ? 0 : 1;
}

}  // namespace knnmi::test

#define TEST(name)                                                                \
    static void name();                                                           \
    static const ::knnmi::test::Registration registration_of_##name(#name, name); \
    static void name()

#define CHECK(condition) ::knnmi::test::expect((condition), #condition, __FILE__, __LINE__)

#define CHECK_THROWS(type, expression)                                                   \
    do {                                                                                 \
        bool thrown = false;                                                             \
        try {                                                                            \
            static_cast<void>(expression);                                               \
        } catch (const type&) {                                                          \
            thrown = true;                                                               \
        }                                                                                \
        ::knnmi::test::expect(thrown, #expression " throws " #type, __FILE__, __LINE__); \
    } while (false)
