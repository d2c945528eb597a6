#pragma once
// Tables for people. Text from the network loses its control bytes, so that it can't steer a terminal.
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace opid {

std::string printable(std::string_view text);

// Tells people what is wrong, as "opid: TEXT"; returns `code`, for return.
int tell_problem(std::string_view text, int code, std::ostream& err);

class Table {
public:
    explicit Table(std::vector<std::string> titles) : rows_{std::move(titles)} {}
    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
    void print(std::ostream& out) const;  // columns two blanks apart

private:
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace opid
