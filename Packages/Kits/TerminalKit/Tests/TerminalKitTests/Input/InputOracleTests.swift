import Testing

@testable import TerminalKit

@Suite(.enabled(if: TermKey.isInstalled, "needs libtermkey1")) struct InputOracleTests {
    private static func ours(_ bytes: [UInt8]) -> String {
        var decoder = InputDecoder()
        return describe(decoder.receive(bytes) + decoder.stopWaiting())
    }

    @Test("22: libtermkey reads the legacy keys alike, but for the listed differences")
    func legacy() throws {
        let oracle = try #require(TermKey())
        for bytes in Self.keys {
            let (ours, theirs) = (Self.ours(bytes), oracle.keys(bytes))
            let expected = Self.differences[Self.name(bytes)] ?? ours
            let isAlike = [theirs, Self.shifted(theirs), Self.numbered(theirs)].contains(expected)
            #expect(isAlike, "\(Self.name(bytes)): ours \(ours), libtermkey \(theirs)")
        }
    }

    @Test("22: each listed difference exists", arguments: differences)
    func difference(name: String, theirs: String) throws {
        let bytes = try #require(Self.keys.first { Self.name($0) == name }, "it is not compared")
        #expect(try #require(TermKey()).keys(bytes) == theirs)
        #expect(Self.ours(bytes) != theirs)
    }

    /// What libtermkey makes of a key, where it is not ours.
    private static let differences: [String: String] = [
        // Some terminals send BS for Backspace whatever their settings say.
        #"\x8"#: "Ctrl-h", #"\e\x8"#: "Alt-Ctrl-h",
        // Twice Escape is pressed more often than Alt-Escape.
        #"\e\e"#: "Alt-Escape",
        // The names that DEC gave to Home and End.
        #"\e[1~"#: "Find", #"\e[4~"#: "Select",
        // The Linux console, and modifiers after SS3.
        #"\e[[A"#: "CSI [, A", #"\eO5A"#: "Alt-O, 5, A",
        // A report of the cursor is not a key.
        #"\e[3;4R"#: "Alt-Shift-F3",
        // It does not know the colons of the kitty protocol, and takes a release for a key.
        #"\e[97:65;2u"#: "Shift-\u{2625}", #"\e[97;1:3u"#: "Ctrl-a",
        // It decodes C1 controls.
        #"\x9bA"#: "Up", #"\xc2\x9b"#: "Alt-Ctrl-[",
    ]

    /// It leaves Shift beside a character that Shift has made.
    private static func shifted(_ theirs: String) -> String {
        let parts = theirs.split(separator: "Shift-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].count == 1 else { return theirs }
        return parts[0] + parts[1].uppercased()
    }

    /// The terminfo of xterm counts function keys with modifiers on: Shift-F1 is F13, and Ctrl-F1 F25.
    private static func numbered(_ theirs: String) -> String {
        guard theirs.hasPrefix("F"), let number = Int(theirs.dropFirst()), number > 12 else { return theirs }
        let names = ["", "Shift-", "Ctrl-", "Ctrl-Shift-", "Alt-", "Alt-Shift-"]
        return names[(number - 1) / 12] + "F\((number - 1) % 12 + 1)"
    }

    private static let keys: [[UInt8]] = {
        var texts: [String] = (0x00..<0x80).map { String(Unicode.Scalar(UInt8($0))) }
        texts += ["é", "漢", "👍", "\u{1B}é", "\u{1B}漢"]
        // O, [, ], P and _ begin sequences.
        for byte in 0x00..<0x80 { texts.append("\u{1B}" + String(Unicode.Scalar(UInt8(byte)))) }
        for letter in "ABCDHFPQRS" {
            texts += ["\u{1B}[\(letter)", "\u{1B}O\(letter)", "\u{1B}\u{1B}[\(letter)", "\u{1B}\u{1B}O\(letter)"]
            texts += (2...8).map { "\u{1B}[1;\($0)\(letter)" }
        }
        for number in [
            2, 3, 5, 6, 7, 8, 11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 23, 24, 25, 26, 28, 29, 31, 32, 33, 34,
        ] {
            texts.append("\u{1B}[\(number)~")
            texts += (2...8).map { "\u{1B}[\(number);\($0)~" }
        }
        for letter in "Mjklmnopqrstuvwxy" { texts.append("\u{1B}O\(letter)") }
        for code in [97, 106, 49, 33, 228, 13, 9, 27, 32] {
            texts += ["\u{1B}[\(code)u"] + (2...8).map { "\u{1B}[\(code);\($0)u" }
            texts += (2...8).map { "\u{1B}[27;\($0);\(code)~" }
        }
        texts += [
            "\u{1B}[Z", "\u{1B}[1~", "\u{1B}[4~", "\u{1B}[[A", "\u{1B}O5A", "\u{1B}[3;4R", "\u{1B}[97:65;2u",
            "\u{1B}[97;1:3u",
        ]
        return texts.map { Array($0.utf8) } + [[0xFF], [0xC3, 0x61], [0xC2, 0x9B], [0x9B, 0x41]]
    }()

    private static func name(_ bytes: [UInt8]) -> String {
        bytes.map {
            (0x21...0x7E).contains($0) ? String(Unicode.Scalar($0)) : $0 == 0x1B ? "\\e" : "\\x" + String($0, radix: 16)
        }
        .joined()
    }
}
