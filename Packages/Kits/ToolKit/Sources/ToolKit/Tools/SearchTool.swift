import Capabilities
import FileKit

/// `grep.search`
struct SearchTool: FileTool {
    private static let usualLimit = 100

    let name = "grep.search"
    let summary = """
        Searches the lines of text files for a regular expression (Perl syntax: \\d, \\b, (?:…), lookaround). Gives \
        path:line:text for each line that fits; lines of context have - in place of the colons. Binary files, and what \
        .gitignore leaves out, are not searched.
        """
    let properties: [Schema.Property] = [
        Schema.Property("pattern", "The regular expression, or the text when literal is set", .string),
        .path("The file or folder to search (default: the working folder)"),
        .optional("glob", "Only files whose path fits, such as *.swift or src/**/*.{c,h}", .string),
        .optional("literal", "Search for the text as it is (default: false)", .boolean),
        .optional("ignore_case", "Make no difference between a and A (default: false)", .boolean),
        .optional("context", "How many lines to give before and after (default: 0)", .integer(0...20)),
        .optional("limit", "How many lines that fit to give (default: 100)", .integer(1...5000)),
        .hidden, .ignored,
    ]

    func run(_ input: ToolInput, in workspace: Workspace) async throws -> String {
        let path = try input.path
        let search = TreeSearch(
            pattern: try LinePattern(
                input.text("pattern"), isLiteral: input.flag("literal"), ignoresCase: input.flag("ignore_case")),
            filter: input.text("glob").isEmpty ? nil : try PathPattern(input.text("glob")),
            context: input.number("context") ?? 0, limit: input.number("limit") ?? Self.usualLimit)
        let rules = WalkRules(
            hidden: input.flag("hidden") || search.filter?.namesHidden == true, ignored: input.flag("ignored"))
        let found = try await search.run(path, rules, in: workspace)
        return answer(found, search)
    }

    private func answer(_ found: TreeSearch.Found, _ search: TreeSearch) -> String {
        var answer = Answer()
        var shown = 0
        var hasMore = false
        for file in found.files where !hasMore {
            var last: Int?
            for line in file.lines {
                if line.isMatch {
                    hasMore = shown == search.limit
                    if hasMore { break }
                    shown += 1
                }
                if search.context > 0, last == nil ? !answer.text.isEmpty : line.number != (last ?? 0) + 1 {
                    answer.add("--")
                }
                let mark = line.isMatch ? ":" : "-"
                answer.add("\(file.path.shown)\(mark)\(line.number)\(mark)\(line.text)")
                last = line.number
            }
            hasMore = hasMore || file.matches > search.limit
        }
        if shown == 0 { answer.note("no matching line in \(found.searched) files") }
        if hasMore || answer.isFull {
            answer.note("there are more matches than shown; narrow the pattern or the path, or raise the limit")
        }
        for note in found.notes { answer.note(note) }
        return answer.whole
    }
}
