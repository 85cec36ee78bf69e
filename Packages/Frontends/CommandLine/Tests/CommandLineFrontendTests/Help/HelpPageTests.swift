import CoreTesting
import Registry
import TerminalKit
import Testing

@testable import CommandLineFrontend

@Suite("A page of help")
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

    @Test("fits its width, but for commands to copy", arguments: [40, 80, 200])
    func fits(width: Int) throws {
        for page in try pages(width: width) {
            for line in page.split(separator: "\n") where !line.hasPrefix("  martlet ") && !line.hasPrefix("  source ")
            {
                #expect(TextWidth.of(String(line)) <= width, "\(line)")
            }
        }
    }

    @Test("without a width is for reading too") func pipes() throws {
        for page in try pages(width: nil) {
            #expect(page.hasSuffix("\n") && !page.hasSuffix("\n\n"))
            #expect(!page.contains("\u{1B}"))
        }
    }

    @Test("of an action shows everything that was declared") func action() throws {
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

                'martlet help' lists the options that every command has.

                """)
    }

    @Test("of the program lists the commands, the shortcuts and the common options") func root() throws {
        let page = try CommandLineFeature.helpText([], try sampleHost().host, width: 80)
        for word in ["config", "doctor", "sample", "post", "--format", "--no-input", "--timeout"] {
            #expect(page.contains("  \(word) ") || page.contains(" \(word) "), "\(word)")
        }
        #expect(!page.contains("internal"))
    }

    @Test("of a command that is not there names the nearest") func unknown() throws {
        let host = try sampleHost().host
        #expect(throws: UsageError.unknownCommand(["confg"], suggestion: "config")) {
            try CommandLineFeature.helpText(["confg"], host, width: 80)
        }
    }
}
