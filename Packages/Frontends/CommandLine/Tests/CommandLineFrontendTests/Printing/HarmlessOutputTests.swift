import Capabilities
import JSON
import TerminalKit
import Testing

@testable import CommandLineFrontend

@Suite("Text from outside")
struct HarmlessOutputTests {
    private static let nasty = "\u{1B}[2Jx\u{1B}]0;owned\u{07}\u{9B}31m\u{202E}y\r"

    private func printed(_ value: JSON, _ format: OutputFormat, width: Int?) -> String {
        ResultPrinter(format: format, level: .none, width: width).text(value, .any, isStream: false)
    }

    @Test(
        "Text from outside cannot control a terminal, in any format",
        arguments: [
            JSON.string(nasty), .array([.string(nasty)]), .object(["k": .string(nasty)]), .object([nasty: 1]),
            .array([.object([nasty: [1]])]),
        ])
    func harmless(value: JSON) {
        for format in OutputFormat.allCases {
            let text = printed(value, format, width: 80)
            #expect(
                !text.unicodeScalars.contains {
                    $0.value == 0x1B || $0.value == 0x07 || (0x80...0x9F).contains($0.value)
                })
            #expect(!text.contains("\u{202E}"))
        }
        #expect(!printed(value, .text, width: nil).contains("\u{1B}"))
        #expect(!printed(value, .markdown, width: nil).contains("\u{1B}"))
    }

    @Test("Text from outside is unchanged if a program reads it") func kept() throws {
        #expect(printed(.string(Self.nasty), .csv, width: nil).contains(Self.nasty.dropLast()))
        let json = try JSON(parsing: printed(.string(Self.nasty), .json, width: nil))
        #expect(json == .string(Self.nasty))
    }

    @Test(
        "Text from outside is quoted if a CSV cell needs it",
        arguments: [
            ("plain", "plain"), ("a,b", "\"a,b\""), ("say \"x\"", "\"say \"\"x\"\"\""), ("a\nb", "\"a\nb\""),
            ("a\r\nb", "\"a\r\nb\""), ("", ""), ("ü;x", "ü;x"),
        ])
    func csv(text: String, cell: String) {
        #expect(DelimitedText.csv(.array([.string(text)]), .array(.string)) == "value\r\n\(cell)\r\n")
    }

    @Test(
        "Text from outside stays inside its Markdown cell",
        arguments: [
            ("plain", "plain"), ("a|b", "a\\|b"), ("a\nb", "a<br>b"), ("a\r\nb", "a<br>b"), ("a\\|b", "a\\\\\\|b"),
            ("<img src=x>", "&lt;img src=x>"), ("a & b", "a & b"),
        ])
    func markdown(text: String, cell: String) {
        #expect(DelimitedText.markdown(.array([.string(text)]), .array(.string)) == "| value |\n| --- |\n| \(cell) |\n")
    }

    @Test("Text from outside in an error stays on its lines") func errors() {
        let usage = UsageError.unknownCommand([Self.nasty], suggestion: nil)
        #expect(!Sanitizer.sanitize(usage.message).contains("\u{1B}"))
    }
}
