import Capabilities
import SSHClient

/// What a command on a host prints: whole lines as they come, and the beginning of all of it for the result.
struct HostOutput: Sendable {
    /// What is kept of both streams together.
    static let limit = 1 << 20
    /// Longer lines come in pieces.
    private static let longestLine = 1 << 16

    /// One of the two streams.
    enum Stream: String, Choice { case output, errors }

    private(set) var output: [UInt8] = []
    private(set) var errors: [UInt8] = []
    /// Bytes that were not kept.
    private(set) var dropped = 0
    private var held: [Stream: [UInt8]] = [:]

    /// Takes a piece. Returns the lines that are whole now, with their ends.
    mutating func take(_ piece: SSHPiece) -> (stream: Stream, lines: String)? {
        let (stream, bytes) =
            switch piece {
            case .output(let bytes): (Stream.output, bytes)
            case .errors(let bytes): (Stream.errors, bytes)
            }
        keep(bytes, of: stream)
        var waiting = held[stream, default: []] + bytes
        var end = waiting.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        if waiting.count - end > Self.longestLine { end = Self.wholeCharacters(waiting) }
        let lines = waiting[..<end]
        waiting.removeFirst(end)
        held[stream] = waiting
        return lines.isEmpty ? nil : (stream, String(decoding: lines, as: UTF8.self))
    }

    /// The last line of a stream, if it has no end.
    mutating func rest(of stream: Stream) -> String? {
        guard let rest = held.removeValue(forKey: stream), !rest.isEmpty else { return nil }
        return String(decoding: rest, as: UTF8.self)
    }

    /// What is kept of a stream, as text.
    func text(of stream: Stream) -> String {
        String(decoding: stream == .output ? output : errors, as: UTF8.self)
    }

    private mutating func keep(_ bytes: [UInt8], of stream: Stream) {
        let kept = bytes.prefix(max(0, Self.limit - output.count - errors.count))
        dropped += bytes.count - kept.count
        switch stream {
        case .output: output += kept
        case .errors: errors += kept
        }
    }

    /// The end of the last character that is whole.
    private static func wholeCharacters(_ bytes: [UInt8]) -> Int {
        for back in 1...4 where back <= bytes.count {
            let byte = bytes[bytes.count - back]
            if byte & 0xC0 == 0x80 { continue }
            let needed = byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
            return needed > back ? bytes.count - back : bytes.count
        }
        return bytes.count
    }
}
