#pragma once
// Variables as text that a shell, a tool or a container reads back to the very same values.
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "surfaces/cli/child_process.hpp"

namespace opid {

enum class ShellFormat {
    sh,          // export NAME='value', for eval in sh, bash, zsh
    fish,        // set -gx NAME 'value'
    powershell,  // $env:NAME = 'value'
    dotenv,      // NAME='value', in the part of the syntax that all readers of .env files agree upon
    docker,      // NAME=value as `docker run --env-file` takes it: nothing is quoted
};
std::optional<ShellFormat> shell_format_from(std::string_view word);

// invalid: a value that this format can't carry (a line end; for dotenv also some quotes); the text names the variable.
Result<std::string> shell_text(const Variables& variables, ShellFormat format);

}  // namespace opid
