import Registry
import Testing

@testable import CommandLineFrontend

@Suite("Commands that pass words on as they are")
struct VerbatimWordsTests {
    private let verbatim = VerbatimWords([
        Manifest(id: "mcp", summary: "Tools", version: "1", verbatim: ["mcp.call": 2])
    ])

    private func words(_ line: String) -> (words: [String], options: CommonOptions) {
        let taken = CommonOptions.take(from: line.split(separator: " ").map(String.init), verbatim: verbatim)
        return (taken.words, taken.options)
    }

    @Test(
        "After its own words everything belongs to the command",
        arguments: [
            ("mcp call git log --json -q", "mcp call git log -- --json -q"),
            ("mcp call git log a --help", "mcp call git log -- a --help"),
            ("mcp call git log", "mcp call git log"), ("mcp call git log -- --json", "mcp call git log -- --json"),
            ("mcp call --trace git log --set", "mcp call --trace git log -- --set"),
            ("mcp tools git", "mcp tools git"), ("mcp call git", "mcp call git"),
        ])
    func passesOn(_ line: String, _ expected: String) {
        #expect(words(line).words.joined(separator: " ") == expected)
    }

    @Test("Common options before that are taken, and those of another command anywhere")
    func takes() {
        let early = words("--json mcp -q call git log --verbose")
        #expect(early.words == ["mcp", "call", "git", "log", "--", "--verbose"])
        #expect(early.options.format == .json && early.options.isQuiet && !early.options.isVerbose)
        #expect(words("mcp tools git x --json").options.format == .json)
    }
}
