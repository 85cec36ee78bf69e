import CoreTesting
import Testing

@testable import TerminalKit

@Suite struct SanitizerTests {
    @Test("Every C0 control but tab and newline is shown as its picture", arguments: UInt32(0)..<0x20)
    func c0(value: UInt32) throws {
        let control = String(try #require(Unicode.Scalar(value)))
        let picture = String(try #require(Unicode.Scalar(0x2400 + value)))
        #expect(Sanitizer.sanitize("a\(control)b") == (value == 9 || value == 10 ? "a\(control)b" : "a\(picture)b"))
    }

    @Test("Every C1 control becomes a replacement character")
    func replaced() throws {
        for value in UInt32(0x80)...0x9F {
            let control = String(try #require(Unicode.Scalar(value)))
            #expect(Sanitizer.sanitize("a\(control)b") == "a\u{FFFD}b")
        }
    }

    @Test("Every bidirectional override is shown by its name")
    func named() throws {
        for value in [UInt32](0x202A...0x202E) + [UInt32](0x2066...0x2069) {
            let control = String(try #require(Unicode.Scalar(value)))
            let name = "‹U+\(String(value, radix: 16, uppercase: true))›"
            #expect(Sanitizer.sanitize("a\(control)b") == "a\(name)b")
        }
    }

    @Test(
        "A sequence that would control the terminal is shown as text",
        arguments: [
            ("\u{1B}]52;c;aGk=\u{07}", "␛]52;c;aGk=␇"), ("\u{1B}[2J", "␛[2J"), ("\u{9B}31m", "\u{FFFD}31m"),
            ("\u{7F}", "␡"),
            ("\u{1B}P1$r\u{1B}\\", "␛P1$r␛\\"), ("one\rtwo", "one␍two"), ("one\r\ntwo\r\n", "one\ntwo\n"),
            ("one\r\r\n", "one␍\n"),
            ("end\r", "end␍"),
        ])
    func sequences(text: String, expected: String) {
        #expect(Sanitizer.sanitize(text).unicodeScalars.elementsEqual(expected.unicodeScalars))
    }

    @Test(
        "Harmless text is not changed",
        arguments: ["", "plain\ttext\n", "漢字 👨‍👩‍👧‍👦 é", "\u{200E}mark", "\u{2065}\u{206A}\u{2029}", "\u{10FFFF}"])
    func clean(text: String) {
        #expect(Sanitizer.sanitize(text).unicodeScalars.elementsEqual(text.unicodeScalars))
    }

    @Test("A stream split anywhere gives the same result as the whole")
    func everyCut() {
        let text = "a\u{1B}[1m漢\u{202E}é\u{9B}👨‍👩‍👧‍👦\r\nb\rc\u{7F}𝄞\r"
        let bytes = Array(text.utf8)
        let whole = Array(Sanitizer.sanitize(text).utf8)
        for first in 0...bytes.count {
            for second in first...bytes.count {
                var stream = StreamSanitizer()
                var output = stream.sanitize(Array(bytes[..<first]))
                output += stream.sanitize(Array(bytes[first..<second]))
                output += stream.sanitize(Array(bytes[second...]))
                output += stream.finish()
                #expect(output == whole, "cut at \(first) and \(second)")
            }
        }
    }

    @Test("Invalid UTF-8 is repaired as the standard library does", arguments: UInt64(1)...200)
    func invalid(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let alphabet: [UInt8] = [
            0x41, 0x80, 0x9B, 0xBF, 0xC0, 0xC2, 0xE0, 0xE2, 0xED, 0xEF, 0xF0, 0xF4, 0xF5, 0xFF, 0xA0, 0x90,
        ]
        let bytes = (0..<30).map { _ in alphabet.randomElement(using: &random) ?? 0 }
        var stream = StreamSanitizer()
        var output: [UInt8] = []
        for byte in bytes { output += stream.sanitize([byte]) }
        output += stream.finish()
        #expect(output == Array(Sanitizer.sanitize(String(decoding: bytes, as: UTF8.self)).utf8), "\(bytes)")
    }

    @Test("Random bytes never leave a byte that a terminal obeys", arguments: UInt64(1)...100)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let bytes = (0..<200).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        var stream = StreamSanitizer()
        let text = String(validating: stream.sanitize(bytes) + stream.finish(), as: UTF8.self)
        #expect(text?.unicodeScalars.contains { Sanitizer.isHarmful($0.value) } == false)
    }
}
