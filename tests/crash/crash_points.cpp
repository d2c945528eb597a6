#include "crash_points.hpp"

#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <string>

#include <unistd.h>

namespace opid::test {
namespace {

// In the order of one write's life.
constexpr std::array<std::string_view, 7> points{"before-claim-commit", "after-claim-commit",    "before-send",
                                                 "after-send",          "before-outcome-commit", "after-outcome-commit",
                                                 "before-answer"};

struct Plan {
    std::string point;
    long at = 1;
};

const Plan& plan() {
    static const Plan made = [] {
        Plan plan;
        const char* text = std::getenv("OPID_CRASH_AT");
        if (text == nullptr) return plan;
        const std::string_view given(text);
        const auto colon = given.find(':');
        plan.point = std::string(given.substr(0, colon));
        if (colon != std::string_view::npos) {
            const std::string_view number = given.substr(colon + 1);
            std::from_chars(number.data(), number.data() + number.size(), plan.at);
        }
        return plan;
    }();
    return made;
}

}  // namespace

void pass(std::string_view point) {
    static std::atomic<long> passed{0};
    if (plan().point == point && passed.fetch_add(1) + 1 == plan().at) ::kill(::getpid(), SIGKILL);
}

void list_points(std::ostream& out) {
    for (const std::string_view point : points) out << point << "\n";
}

}  // namespace opid::test
