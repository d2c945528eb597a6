#pragma once
// A condition on one value of an answer or a request: typed equality, present, absent, one_of, matches.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opid {

// A value, immutable and cheap to copy; may be used from any thread.
class Predicate {
public:
    // JSON texts of scalar values: `"a"`, `402`, `false`, `null`. Numbers are compared by exact decimal value.
    static Predicate equals(std::string json_text);
    static Predicate one_of(std::vector<std::string> json_texts);
    static Predicate present();
    static Predicate absent();
    // RE2 syntax, unanchored, on the string value (or on the text of a number or boolean). nullopt: error says why.
    static std::optional<Predicate> matching(std::string_view expression, std::string& error);

    // json_text is the raw JSON text of the value at the pointer, nullopt where there is none. A null is present.
    bool holds_json(std::optional<std::string_view> json_text) const;
    // For header fields, query and form values: the plain string is compared with the string form of the operand.
    bool holds_text(std::optional<std::string_view> text) const;
    // The same for a name that may occur several times: one of the values has to hold, or none to be there.
    bool holds_any_text(const std::vector<std::string_view>& texts) const;

    std::string text() const;  // as in a profile: `"a"`, `one_of: ["a", 1]`, `matches: ^x`, `present`

private:
    struct State;
    explicit Predicate(std::shared_ptr<const State> state) : state_(std::move(state)) {}
    std::shared_ptr<const State> state_;
};

}  // namespace opid
