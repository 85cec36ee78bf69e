import Capabilities
import HostKit
import Registry
import TerminalKit
import Testing

@testable import CommandLineFrontend

@Suite("CommonOptions")
struct CommonOptionsTests {
    @Test(
        "Common options may stand anywhere",
        arguments: [
            ["--json", "-q", "config", "show"], ["config", "--json", "show", "-q"], ["config", "show", "-q", "--json"],
            ["config", "show", "--format", "json", "--quiet"], ["config", "show", "--output-format=json", "-q"],
        ])
    func anywhere(words: [String]) throws {
        let taken = CommonOptions.take(from: words)
        #expect(taken.words == ["config", "show"])
        #expect(taken.options.format == .json)
        #expect(taken.options.isQuiet)
        #expect(taken.failure == nil)
    }

    @Test("Common options after -- belong to the command")
    func afterTheEnd() {
        let taken = CommonOptions.take(from: ["-v", "say", "--", "--json", "-q", "--"])
        #expect(taken.words == ["say", "--", "--json", "-q", "--"])
        #expect(taken.options.format == nil)
        #expect(taken.options.isVerbose && !taken.options.isQuiet)
    }

    @Test(
        "A format can be given in every usual way",
        arguments: [
            ("text", OutputFormat.text), ("json", .json), ("ndjson", .ndjson), ("csv", .csv), ("markdown", .markdown),
            ("stream-json", .ndjson),
        ])
    func formats(word: String, format: OutputFormat) {
        #expect(CommonOptions.take(from: ["--output-format", word]).options.format == format)
        if word != "stream-json" { #expect(CommonOptions.take(from: ["--format=\(word)"]).options.format == format) }
    }

    @Test("All common options are recognised") func all() {
        let words = [
            "-qvy", "--no-input", "--color", "never", "--timeout", "1m", "--answers", "a.json", "--only", "chat,mcp",
            "--set", "a=1", "--set=b=2", "--profile", "work", "-h", "--version",
        ]
        let (options, rest, failure) = CommonOptions.take(from: words)
        #expect(rest.isEmpty)
        #expect(failure == nil)
        #expect(options.isQuiet && options.isVerbose && options.isAgreed && options.asksNobody)
        #expect(options.wantsHelp && options.wantsVersion)
        #expect(options.color == .never)
        #expect(options.limit == .seconds(60))
        #expect(options.answers == "a.json")
        #expect(options.workbench.only == ["chat", "mcp"])
        #expect(options.workbench.settings == ["log.console=debug", "a=1", "b=2", "profile=work"])
    }

    @Test("Several invalid values are all reported, in the requested format")
    func wrong() {
        let words = ["--format", "yaml", "--color=blue", "--timeout", "soon", "--json=1", "--profile", "--json"]
        let taken = CommonOptions.take(from: words)
        let lines = (taken.failure?.message ?? "").split(separator: "\n").map(String.init)
        #expect(lines.count == 5)
        for (line, name) in zip(lines, ["--format", "--color", "--timeout", "--json", "--profile"]) {
            #expect(line.hasPrefix(name + " "))
        }
        #expect(taken.options.format == .json)
    }

    @Test("Letters that are not all common flags are left to the command", arguments: ["-a", "-aq", "-5", "-", "-qx"])
    func letters(word: String) {
        #expect(CommonOptions.take(from: [word]).words == [word])
    }

    @Test("The common options are exactly the reserved names and letters")
    func reserved() {
        #expect(Set(CommonOptions.declarations.map(\.name)) == Set(Action.reservedNames))
        #expect(Set(CommonOptions.declarations.compactMap(\.short)) == Set(Action.reservedLetters))
    }
}
