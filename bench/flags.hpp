// Command lines of the benchmark tools: "--name value" pairs, every name known, the first mistake ends the program.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace opid::bench {

class Flags {
public:
    explicit Flags(std::string_view usage) : usage_(usage) {}

    void text(const std::string& name, std::string& target) {
        known_[name] = [&target](const std::string& value) {
            target = value;
            return true;
        };
    }
    template <class Number>
    void number(const std::string& name, Number& target) {
        known_[name] = [&target](const std::string& value) {
            char* end = nullptr;
            const double parsed = std::strtod(value.c_str(), &end);
            if (value.empty() || *end != '\0' || parsed < 0) return false;
            target = static_cast<Number>(parsed);
            return true;
        };
    }

    // Exits with status 2 and the usage text when the line is wrong.
    void parse(int count, char** words) const {
        for (int i = 1; i < count; i += 2) {
            const std::string name = words[i];
            const auto flag = known_.find(name);
            if (flag == known_.end() || i + 1 == count || !flag->second(words[i + 1])) {
                std::fprintf(stderr, "wrong or unknown option: %s\n%.*s", name.c_str(), static_cast<int>(usage_.size()),
                             usage_.data());
                std::exit(2);
            }
        }
    }

private:
    std::string_view usage_;
    std::map<std::string, std::function<bool(const std::string&)>> known_;
};

}  // namespace opid::bench
