#pragma once
// What is wrong with a configuration file, told so that its author can put it right.
#include <string>
#include <vector>

namespace opid {

struct SettingsProblem {
    std::string file;
    int line = 0;      // from 1; 0: the file as a whole
    int column = 0;    // from 1
    std::string path;  // "rules[2].key.window"; empty: the file as a whole
    std::string text;  // plain words; never a secret
    std::string hint;  // the nearest known word, if one is near
    friend bool operator==(const SettingsProblem&, const SettingsProblem&) = default;
};

// `file:line: path: text (did you mean 'hint'?)`
std::string to_text(const SettingsProblem& problem);
std::string to_text(const std::vector<SettingsProblem>& problems);  // one a line

}  // namespace opid
