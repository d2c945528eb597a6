#include "core/http/head_scan.hpp"

#include <cstring>

#include "core/http/octets.hpp"

namespace opid::http {

HeadScan scan_head(std::string_view bytes, const HeadScanLimits& limits, NameBlanks blanks, HeadProgress& progress) {
    // A buffer shorter than what was seen before is another message: start over.
    if (progress.scanned == 0 || progress.scanned > bytes.size()) {
        progress = {};
        return {};
    }
    if (!progress.started) return {};
    for (;;) {
        const char* const from = bytes.data() + progress.scanned;
        const void* const found = std::memchr(from, '\n', bytes.size() - progress.scanned);
        if (found == nullptr) {
            const bool stray = has_stray_cr(bytes.substr(progress.scanned - 1));
            progress.scanned = bytes.size();
            if (!progress.start_line_done && bytes.size() - progress.line_start > limits.start_line_bytes) return {};
            if (stray) return {};
            return {ScanVerdict::wait, {}};
        }
        if (!progress.start_line_done) return {};
        const char* const line = bytes.data() + progress.line_start;
        const char* const next = static_cast<const char*>(found) + 1;
        const FieldLine read = read_field_line(line, next, blanks);
        if (read.kind == LineKind::fault) return {ScanVerdict::fault, read.fault};
        if (read.kind == LineKind::blank || ++progress.field_lines > limits.field_lines) return {};
        progress.scanned = static_cast<std::size_t>(next - bytes.data());
        progress.line_start = progress.scanned;
    }
}

}  // namespace opid::http
