#include "core/profile/predicate.hpp"

#include <re2/re2.h>

#include <algorithm>

#include <fmt/format.h>

#include "core/identity/decimal.hpp"
#include "core/identity/json_reader.hpp"

namespace opid {
namespace {

constexpr std::size_t expression_bytes_max = 1024;
constexpr std::int64_t expression_memory_max = 1 << 20;

// A scalar of JSON in a form that compares by value and type.
struct Scalar {
    JsonKind kind = JsonKind::null;
    std::string text;  // a decoded string, or the number or word as written
    std::optional<Decimal> number;

    friend bool operator==(const Scalar& a, const Scalar& b) {
        if (a.kind != b.kind) return false;
        if (a.kind == JsonKind::number) return a.number == b.number;
        return a.text == b.text;
    }
};

std::optional<Scalar> read_scalar(std::string_view json_text) {
    if (json_text.empty() || json_text.front() == '{' || json_text.front() == '[') return std::nullopt;
    const auto document = read_json(json_text);
    if (!document) return std::nullopt;
    const JsonValue root = document->root();
    Scalar scalar;
    scalar.kind = root.kind();
    scalar.text = root.is(JsonKind::string) ? root.string() : std::string(root.raw());
    if (root.is(JsonKind::number)) scalar.number = Decimal::from_json_number(root.raw());
    return scalar;
}

}  // namespace

struct Predicate::State {
    enum class Kind { one_of, present, absent, matches } kind = Kind::present;
    bool single = false;
    std::vector<Scalar> operands;
    std::vector<std::string> operand_texts;
    std::unique_ptr<re2::RE2> expression;

    bool matches(std::string_view text) const {
        return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *expression);
    }
};

Predicate Predicate::equals(std::string json_text) {
    auto state = std::make_shared<State>();
    state->kind = State::Kind::one_of;
    state->single = true;
    if (auto scalar = read_scalar(json_text)) state->operands.push_back(std::move(*scalar));
    state->operand_texts.push_back(std::move(json_text));
    return Predicate(std::move(state));
}

Predicate Predicate::one_of(std::vector<std::string> json_texts) {
    auto state = std::make_shared<State>();
    state->kind = State::Kind::one_of;
    for (const std::string& text : json_texts) {
        if (auto scalar = read_scalar(text)) state->operands.push_back(std::move(*scalar));
    }
    state->operand_texts = std::move(json_texts);
    return Predicate(std::move(state));
}

Predicate Predicate::present() {
    auto state = std::make_shared<State>();
    state->kind = State::Kind::present;
    return Predicate(std::move(state));
}

Predicate Predicate::absent() {
    auto state = std::make_shared<State>();
    state->kind = State::Kind::absent;
    return Predicate(std::move(state));
}

std::optional<Predicate> Predicate::matching(std::string_view expression, std::string& error) {
    if (expression.size() > expression_bytes_max) {
        error = fmt::format("an expression has at most {} bytes", expression_bytes_max);
        return std::nullopt;
    }
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(expression_memory_max);
    auto state = std::make_shared<State>();
    state->kind = State::Kind::matches;
    state->expression = std::make_unique<re2::RE2>(re2::StringPiece(expression.data(), expression.size()), options);
    if (!state->expression->ok()) {
        error = state->expression->error();
        return std::nullopt;
    }
    return Predicate(std::move(state));
}

bool Predicate::holds_json(std::optional<std::string_view> json_text) const {
    switch (state_->kind) {
        case State::Kind::present: return json_text.has_value();
        case State::Kind::absent: return !json_text;
        case State::Kind::one_of: {
            if (!json_text) return false;
            const auto scalar = read_scalar(*json_text);
            return scalar &&
                   std::find(state_->operands.begin(), state_->operands.end(), *scalar) != state_->operands.end();
        }
        case State::Kind::matches: {
            if (!json_text) return false;
            const auto scalar = read_scalar(*json_text);
            return scalar && scalar->kind != JsonKind::null && state_->matches(scalar->text);
        }
    }
    return false;
}

bool Predicate::holds_text(std::optional<std::string_view> text) const {
    switch (state_->kind) {
        case State::Kind::present: return text.has_value();
        case State::Kind::absent: return !text;
        case State::Kind::one_of:
            return text && std::any_of(state_->operands.begin(), state_->operands.end(),
                                       [&](const Scalar& operand) { return operand.text == *text; });
        case State::Kind::matches: return text && state_->matches(*text);
    }
    return false;
}

bool Predicate::holds_any_text(const std::vector<std::string_view>& texts) const {
    if (texts.empty()) return holds_text(std::nullopt);
    return std::any_of(texts.begin(), texts.end(), [this](std::string_view text) { return holds_text(text); });
}

std::string Predicate::text() const {
    switch (state_->kind) {
        case State::Kind::present: return "present";
        case State::Kind::absent: return "absent";
        case State::Kind::matches: return "matches: " + state_->expression->pattern();
        case State::Kind::one_of: break;
    }
    if (state_->single) return state_->operand_texts.front();
    std::string joined;
    for (const std::string& operand : state_->operand_texts) {
        if (!joined.empty()) joined += ", ";
        joined += operand;
    }
    return "one_of: [" + joined + "]";
}

}  // namespace opid
