import Capabilities
import CoreTesting
import Registry
import Settings
import TerminalKit
import Testing

@testable import CommandLineFrontend

@Suite("HelpPage")
struct HelpPageTests {
    private func pages(width: Int?) throws -> [String] {
        let host = try sampleHost().host
        let actions = host.composition.registry.actions.all
        let groups = Set(
            actions.map { $0.id.split(separator: ".").map(String.init) }.filter { $0.count > 1 }.map { [$0[0]] })
        return try ([[]] + groups + actions.map { $0.id.split(separator: ".").map(String.init) }).map {
            try CommandLineFeature.helpText($0, host, width: width)
        }
    }

    @Test("Help fits its width, except for commands to copy", arguments: [40, 80, 200])
    func fits(width: Int) throws {
        for page in try pages(width: width) {
            for line in page.split(separator: "\n") where !line.hasPrefix("  martlet ") && !line.hasPrefix("  source ")
            {
                #expect(TextWidth.of(String(line)) <= width, "\(line)")
            }
        }
    }

    @Test("Help lists the questions that may be asked, with the ids of their answers")
    func questions() {
        let help = HelpPage(program: "martlet", width: 100)
        #expect(
            help.action(SampleFeature.opened).contains(
                "\n  confirm.sample.open.again  Whether to continue: true or false\n"))
        #expect(help.action(SampleFeature.secretive).contains("\n  sample.secret.token  The access token\n"))
        #expect(
            help.action(SampleFeature.open.question("sample.where", "Which one")).contains(
                "\n  sample.where  Which one\n"))
        #expect(!help.action(SampleFeature.open).contains("--answers"))
    }

    @Test("Help without a width is readable") func pipes() throws {
        for page in try pages(width: nil) {
            #expect(page.hasSuffix("\n") && !page.hasSuffix("\n\n"))
            #expect(!page.contains("\u{1B}"))
        }
    }

    @Test("The help of an action shows everything that was declared") func action() throws {
        #expect(
            HelpPage(program: "martlet", width: 80).action(SampleFeature.parsed) == """
                Take everything that can be typed

                Usage: martlet sample parse <first> [rest]… [options]

                A paragraph that is long enough to need more than one line on every terminal
                that is narrow.

                Arguments:
                  <first>  The first word
                  [rest]…  All other words

                Options:
                  -n, --name <text>         A name
                  -c, --count <1…9>         How many [default: 1]
                  -t, --tag <text>…         A label
                      --shade <light|dark>  A shade
                  -a, --all                 Also the hidden ones
                  -b, --brief               In short
                      --no-wrap             Break long lines

                Examples:
                  martlet sample parse one 2 3 --name x -ab --no-wrap
                      Everything at once

                'martlet help' lists the options of every command.

                """)
    }

    @Test("The help of the program lists the commands, the shortcuts and the common options") func root() throws {
        let page = try CommandLineFeature.helpText([], try sampleHost().host, width: 80)
        for word in ["config", "doctor", "sample", "post", "--format", "--no-input", "--timeout"] {
            #expect(page.contains("  \(word) ") || page.contains(" \(word) "), "\(word)")
        }
        #expect(!page.contains("internal"))
    }

    @Test("The help of a group shows the usage of its default action") func defaultValue() throws {
        let page = try CommandLineFeature.helpText(["sample"], try sampleHost().host, width: 80)
        for part in [
            "Verbs:", "Without a verb, runs 'sample send': Send a message", "Usage: martlet sample <to> [options]",
            "-f, --file <path>  What is attached",
        ] {
            #expect(page.contains(part), "\(part)")
        }
    }

    @Test("The help of a group has its summary, also for a group inside another") func groups() throws {
        struct Grouped: Feature {
            static let manifest = Manifest(
                id: "grouped", summary: "All of it", version: "1.0", namespaces: ["grouped", "other"],
                groups: ["other": "The other words", "grouped.inner": "The inner words"])
            init(_ settings: FeatureSettings) {}
            func register(in registry: inout RegistryBuilder) {
                for id in ["grouped.inner.one", "grouped.inner.two", "other.one"] {
                    registry.add(Action(id, "Do it", .reads) { _ in Nothing() })
                }
            }
        }
        let host = try TestHost([BuiltInFeature(essential: CommandLineFeature.self), BuiltInFeature(Grouped.self)]).host
        let root = try CommandLineFeature.helpText([], host, width: 80)
        #expect(root.contains("grouped     All of it") && root.contains("other       The other words"))
        #expect(try CommandLineFeature.helpText(["grouped"], host, width: 80).contains("inner  The inner words"))
        #expect(try CommandLineFeature.helpText(["grouped", "inner"], host, width: 80).hasPrefix("The inner words\n"))
        #expect(try CommandLineFeature.helpText(["other"], host, width: 80).hasPrefix("The other words\n"))
    }

    @Test(
        "The help command needs the exact words of a command",
        arguments: [
            (["sample", "nosuch"], "there is no command 'sample nosuch'"),
            (["sample", "opne"], "did you mean 'sample open'?"),
            (["sample", "again"], "did you mean 'sample open again'?"),
            (["version", "x"], "there is no command 'version x'"),
            (["post", "x"], "there is no command"),
        ])
    func exact(words: [String], message: String) throws {
        let host = try sampleHost().host
        let error = #expect(throws: UsageError.self) {
            try CommandLineFeature.helpText(words, host, width: 80, isExact: true)
        }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        // Without `isExact`, as with --help, the words may be arguments.
        #expect(try CommandLineFeature.helpText(words, host, width: 80).isEmpty == false)
    }

    @Test("Help for a command of an unavailable feature says how to get it") func absent() throws {
        let host = try TestHost(
            [
                BuiltInFeature(essential: CommandLineFeature.self), BuiltInFeature(SampleFeature.self),
                BuiltInFeature(trait: "Chat") {}.described("Talk", commands: "chat", "ask"),
            ], settings: "{features: {sample: false}}"
        ).host
        for (words, feature, why) in [
            (["ask", "hi"], "chat", "not in this build; build with 'make build TRAITS=SampleFeature,Chat'"),
            (["chat", "list"], "chat", "not in this build; build with 'make build TRAITS=SampleFeature,Chat'"),
            (["sample", "open"], "sample", "switched off (settings.json); martlet config set features.sample true"),
        ] {
            let error = #expect(throws: UsageError.self) { try CommandLineFeature.helpText(words, host, width: 80) }
            #expect(error?.message == "'\(words[0])' is a command of the feature \(feature), which is \(why)")
            #expect(error?.exit == .usage)
        }
    }

    @Test("A command of an unavailable feature in a group of another one is told apart from typing mistakes")
    func absentInGroup() throws {
        struct Grouped: Feature {
            static let manifest = Manifest(id: "grouped", summary: "All of it", version: "1.0")
            init(_ settings: FeatureSettings) {}
            func register(in registry: inout RegistryBuilder) {
                registry.add(Action("grouped.list", "List it", .reads) { _ in Nothing() })
            }
        }
        let others = [BuiltInFeature(trait: "Extra") {}.described("More of it", commands: "grouped.more")]
        func failure(_ words: [String], _ features: [BuiltInFeature]) throws -> String {
            let all: [BuiltInFeature] = [BuiltInFeature(essential: CommandLineFeature.self)] + features + others
            let test = try TestHost(all)
            let error = #expect(throws: UsageError.self) {
                try CommandLineFeature.helpText(words, test.host, width: 80)
            }
            return error?.message ?? ""
        }
        let both = [BuiltInFeature(Grouped.self)]
        let more = try failure(["grouped", "more"], both)
        #expect(more.hasPrefix("'grouped more' is a command of the feature extra, which is not in"))
        #expect(try failure(["grouped", "lst"], both).contains("there is no command 'grouped lst'"))
        #expect(try failure(["grouped", "more"], []).contains("a command of the feature extra"))
    }

    @Test("Help for an unknown command suggests the nearest one") func unknown() throws {
        let host = try sampleHost().host
        #expect(throws: UsageError.unknownCommand(["confg"], suggestion: "config")) {
            try CommandLineFeature.helpText(["confg"], host, width: 80)
        }
    }

    @Test("Help for a misspelt verb of a group with a default suggests the verb") func noVerb() throws {
        let host = try sampleHost().host
        func text(_ words: [String]) throws -> String {
            try CommandLineFeature.helpText(words, host, width: 80, isExact: true)
        }
        #expect(throws: UsageError.slip(["sample", "pars"], suggestions: [["sample", "parse"]])) {
            _ = try text(["sample", "pars"])
        }
        #expect(throws: UsageError.slip(["sample", "again"], suggestions: [["sample", "open", "again"]])) {
            _ = try text(["sample", "again"])
        }
        #expect(try text(["sample", "parse"]).contains("sample parse"))
        // Without `isExact`, the words after a command may be its arguments.
        _ = try CommandLineFeature.helpText(["sample", "somewhere"], host, width: 80)
    }
}
