import CoreTesting
@_spi(Fuzzing) import TerminalKit
import Testing

@Suite struct InputFuzzTests {
    private static let pieces: [[UInt8]] = [
        "\u{1B}", "\u{1B}[", "\u{1B}O", "\u{1B}]", "\u{1B}P", "\u{1B}_", "\u{1B}\\", "\u{07}", "\u{1B}[200~",
        "\u{1B}[201~",
        "\u{1B}[<", "\u{1B}[M", "[<", "35;150;7", "M", "m", "u", "~", ";", ":", "27;5;106", "97:65;2", "0;;26085",
        "?62", "$y", "c",
        "R", "11;rgb:f/f/f", "52;c;aGk=", ">|name", "漢字", "\u{202E}", "\r\n", "\u{03}", "\u{03}\u{03}", "\u{18}",
        "text", "99999999999999999999",
    ].map { Array($0.utf8) }

    @Test("23: random bytes never break the decoder, grow it, or leave it waiting", arguments: 1...60)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var bytes: [UInt8] = [UInt8.random(in: 0...255, using: &random)]
        for _ in 0..<300 {
            if Int.random(in: 0..<3, using: &random) > 0, let piece = Self.pieces.randomElement(using: &random) {
                bytes += piece
            } else {
                bytes.append(UInt8.random(in: 0...255, using: &random))
            }
        }
        InputFuzz.decode(bytes)
    }

    @Test("23: a paste of directions, whose names are long, is as good as any")
    func directions() {
        InputFuzz.decode(Array("\u{1B}[200~\(String(repeating: "\u{202E}", count: 20))".utf8))
    }

    @Test("23: long input of one kind does not grow the decoder", arguments: pieces)
    func long(piece: [UInt8]) {
        InputFuzz.decode(Array(repeatElement(piece, count: 2_000).joined()))
        InputFuzz.decode([0x1B, UInt8(ascii: "]")] + Array(repeatElement(piece, count: 200).joined()))
        InputFuzz.decode(Array("\u{1B}[200~".utf8) + Array(repeatElement(piece, count: 200).joined()))
    }
}
