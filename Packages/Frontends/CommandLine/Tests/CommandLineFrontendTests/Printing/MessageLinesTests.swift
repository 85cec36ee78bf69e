import TerminalKit
import Testing

@testable import CommandLineFrontend

@Suite("MessageLines")
struct MessageLinesTests {
    private func lines(_ text: String, _ width: Int?) -> [String] {
        MessageLines(program: "martlet") { width }.lines(of: text)
    }

    @Test("A message is wrapped between words and indented like its beginning")
    func words() {
        #expect(lines("one two three", nil) == ["one two three"])
        #expect(lines("one two three four", 10) == ["one two", "three four"])
        #expect(lines("  one two three\nx", 10) == ["  one two", "  three", "x"])
    }

    @Test("A message keeps its two columns apart in a narrow window")
    func columns() {
        #expect(
            lines("/new       begin another conversation", 24) == [
                "/new       begin another", "           conversation",
            ])
    }

    @Test("A command stays on one line, so that it can be copied")
    func command() {
        let command = "    martlet auth trust add lab.example:8443 --fingerprint AB:CD:EF"
        #expect(lines("trust it with this command:\n\(command)", 30) == ["trust it with this command:", command])
    }

    @Test("A fingerprint is wrapped between its bytes", arguments: 26...60)
    func fingerprint(width: Int) {
        let bytes = (0..<16).map { $0 < 10 ? "A\($0)" : "B\($0 - 10)" }
        let shown = lines("    SHA-256  \(bytes.joined(separator: ":")):", width)
        #expect(shown.allSatisfy { TextWidth.of($0) <= width })
        let parts = shown.map { $0.drop { $0 == " " }.replacing("SHA-256  ", with: "") }
        #expect(parts.joined().split(separator: ":").map(String.init) == bytes)
        #expect(parts.allSatisfy { $0.hasSuffix(":") })
    }
}
