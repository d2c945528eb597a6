#include "adapters/settings/yaml_tree.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "core/identity/json_reader.hpp"

namespace opid {
namespace {

// Leaves yaml-cpp's parser; caught in read_yaml.
struct Refused : std::runtime_error {
    Refused(const YAML::Mark& at, const std::string& why) : std::runtime_error(why), mark(at) {}
    YAML::Mark mark;
};

class TreeBuilder final : public YAML::EventHandler {
public:
    YamlNode take() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        refuse_extras(mark, {}, anchor);
        add(make(YamlNode::Kind::null, mark), mark);
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
        throw Refused(mark, "aliases (*name) are not allowed; write the value out");
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        refuse_extras(mark, tag, anchor);
        YamlNode node = make(YamlNode::Kind::scalar, mark);
        node.quoted = tag == "!";
        node.text = value;
        if (!node.quoted && (value.empty() || value == "~" || value == "null")) node.kind = YamlNode::Kind::null;
        add(std::move(node), mark);
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        refuse_extras(mark, tag, anchor);
        open(make(YamlNode::Kind::list, mark), mark);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        refuse_extras(mark, tag, anchor);
        open(make(YamlNode::Kind::map, mark), mark);
    }
    void OnMapEnd() override { close(); }

private:
    struct Open {
        YamlNode node;
        YAML::Mark mark;
        YamlNode key;
        bool has_key = false;
    };

    static void refuse_extras(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
        if (anchor != 0) throw Refused(mark, "anchors (&name) are not allowed; write the value out");
        if (!tag.empty() && tag != "?" && tag != "!") throw Refused(mark, "tags (!name) are not allowed");
    }

    YamlNode make(YamlNode::Kind kind, const YAML::Mark& mark) {
        if (++nodes_ > yaml_nodes_max) throw Refused(mark, fmt::format("more than {} values", yaml_nodes_max));
        YamlNode node;
        node.kind = kind;
        node.line = mark.line + 1;
        node.column = mark.column + 1;
        return node;
    }

    void open(YamlNode node, const YAML::Mark& mark) {
        if (open_.size() == yaml_depth_max) {
            throw Refused(mark, fmt::format("nested more than {} deep", yaml_depth_max));
        }
        open_.push_back(Open{std::move(node), mark, {}, false});
    }

    void close() {
        Open done = std::move(open_.back());
        open_.pop_back();
        add(std::move(done.node), done.mark);
    }

    void add(YamlNode node, const YAML::Mark& mark) {
        if (open_.empty()) {
            root_ = std::move(node);
            return;
        }
        Open& parent = open_.back();
        if (parent.node.is_list()) {
            parent.node.items.push_back(std::move(node));
        } else if (!parent.has_key) {
            if (node.is_list() || node.is_map()) throw Refused(mark, "a key has to be a plain word");
            node.kind = YamlNode::Kind::scalar;
            parent.key = std::move(node);
            parent.has_key = true;
        } else {
            // An absent value is reported where the next thing stands; its key says where it is missing.
            if (node.is_null() && node.text.empty()) {
                node.line = parent.key.line;
                node.column = parent.key.column;
            }
            parent.node.members.push_back(YamlMember{std::move(parent.key), std::move(node)});
            parent.has_key = false;
        }
    }

    YamlNode root_;
    std::vector<Open> open_;
    std::size_t nodes_ = 0;
};

int last_line(std::string_view text) {
    const auto ends = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    return std::max(1, ends + (text.empty() || text.back() == '\n' ? 0 : 1));
}

YamlNode parse(const std::string& text) {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    TreeBuilder builder;
    if (!parser.HandleNextDocument(builder)) return {};
    YamlNode root = builder.take();
    TreeBuilder second;
    if (parser.HandleNextDocument(second)) {
        const YamlNode next = second.take();
        throw Refused(YAML::Mark::null_mark(),
                      fmt::format("a second document begins near line {}; one file holds one", next.line));
    }
    return root;
}

}  // namespace

YamlNode read_yaml(std::string_view text, const std::string& file, std::vector<SettingsProblem>& problems) {
    const auto whole = [&](std::string what) { problems.push_back({file, 0, 0, {}, std::move(what), {}}); };
    const auto at = [&](const YAML::Mark& mark, std::string what) {
        const int line = std::min(mark.line + 1, last_line(text));  // the end of the text lies behind its last line
        problems.push_back({file, line, mark.column + 1, {}, std::move(what), {}});
    };
    if (text.size() > yaml_bytes_max) {
        whole("larger than 1 MiB");
        return {};
    }
    if (!is_utf8(text) || text.find('\0') != std::string_view::npos) {
        whole("not a UTF-8 text");
        return {};
    }
    try {
        // yaml-cpp takes a quote that is still open at a final line end; it does not at the end of a comment.
        return parse(std::string(text) + "\n#");
    } catch (const Refused& refused) {
        if (refused.mark.is_null()) {
            whole(refused.what());
        } else {
            at(refused.mark, refused.what());
        }
    } catch (const YAML::Exception& exception) {
        const std::string what = exception.msg.empty() ? exception.what() : exception.msg;
        if (exception.mark.is_null()) {
            whole("not valid YAML: " + what);
        } else {
            at(exception.mark, "not valid YAML: " + what);
        }
    } catch (const std::exception& exception) {
        whole(fmt::format("not valid YAML: {}", exception.what()));  // yaml-cpp lets some of the library's through
    }
    return {};
}

}  // namespace opid
