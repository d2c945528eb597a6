#pragma once
// Answers that opid writes itself, as bytes.
#include <string>
#include <string_view>

#include "core/answer/problem.hpp"
#include "core/http/refusal.hpp"

namespace opid {

struct AnswerFraming {
    bool close = false;      // Connection: close
    bool http10 = false;     // the client's version
    bool head_only = false;  // an answer to HEAD
    std::string_view date;   // IMF-fixdate, where the answer has none
    std::string_view via;    // pseudonym; for answers of a provider only
};

// Appends head and body.
void write_answer(const Answer& answer, const AnswerFraming& framing, std::string& out);

Problem problem_of(const http::Refusal& refusal);
Problem make_problem(ProblemKind kind, std::string detail);

// The reason phrase of a status, or nothing.
std::string_view reason_of(int status);

}  // namespace opid
