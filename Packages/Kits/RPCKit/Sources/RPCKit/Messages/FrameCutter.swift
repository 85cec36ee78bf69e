import Capabilities
import Glibc

/// How messages follow each other in a stream of bytes.
public enum RPCFraming: Sendable, Hashable {
    /// Each message is a line.
    case lines
    /// A header with `Content-Length` precedes each message.
    case contentLength
}

/// Cuts a stream of bytes into messages, in the pieces in which it comes. Never holds more than one message and one piece.
struct FrameCutter {
    /// A whole message, or what is left of one.
    enum Frame: Equatable {
        case message([UInt8])
        /// It is longer than the limit and was skipped; this is its beginning.
        case tooLong(start: [UInt8])
    }

    private static let longestHeader = 8_192
    private static let longestStart = 4_096

    private let framing: RPCFraming
    private let limit: Int
    private var bytes: [UInt8] = []
    private var start = 0
    /// Where the search for a line break goes on, so that a long line is not searched again with each piece.
    private var searched = 0
    /// The length of the message that follows the header.
    private var length: Int?
    private var skipping = Skipping.nothing

    private enum Skipping {
        case nothing
        case line
        case bytes(Int)
    }

    init(_ framing: RPCFraming, limit: Int) {
        self.framing = framing
        self.limit = limit
    }

    /// How many bytes are held.
    var count: Int { bytes.count - start }

    /// Takes the next piece and passes on each frame that it completes.
    ///
    /// - Throws: `RPCFailure` for a header that cannot be read, after which nothing can be.
    mutating func take(_ piece: [UInt8], _ pass: (Frame) -> Void) throws(RPCFailure) {
        if start == bytes.count {
            (bytes, start, searched) = (piece, 0, 0)
        } else {
            // Moved at most once for each time that as much was consumed.
            if start > bytes.count / 2 {
                bytes.removeFirst(start)
                (searched, start) = (searched - start, 0)
            }
            bytes += piece
        }
        while let frame = try next() { pass(frame) }
        // Not kept while nothing comes, since a piece has room for much more than it brings.
        if start == bytes.count { (bytes, start, searched) = ([], 0, 0) }
    }

    /// The last line, if the stream ends without a line break.
    mutating func takeRest() -> Frame? {
        defer { (bytes, start, searched) = ([], 0, 0) }
        guard case .lines = framing, case .nothing = skipping, start < bytes.count else { return nil }
        let rest = Array(bytes[start...])
        return Self.isBlank(rest) ? nil : .message(rest)
    }

    private mutating func next() throws(RPCFailure) -> Frame? {
        guard skip() else { return nil }
        switch framing {
        case .lines: return nextLine()
        case .contentLength: return try nextMeasured()
        }
    }

    /// Drops the rest of a frame that was too long; false if more of it is to come.
    private mutating func skip() -> Bool {
        switch skipping {
        case .nothing: return true
        case .line:
            guard let end = lineBreak() else {
                consume(to: bytes.count)
                return false
            }
            consume(to: end + 1)
        case .bytes(let count):
            let dropped = min(count, bytes.count - start)
            consume(to: start + dropped)
            if dropped < count {
                skipping = .bytes(count - dropped)
                return false
            }
        }
        skipping = .nothing
        return true
    }

    private mutating func nextLine() -> Frame? {
        while true {
            guard let end = lineBreak() else {
                guard bytes.count - start > limit else { return nil }
                let frame = Frame.tooLong(start: Array(bytes[start...].prefix(Self.longestStart)))
                skipping = .line
                consume(to: bytes.count)
                return frame
            }
            let line = bytes[start..<end]
            defer { consume(to: end + 1) }
            if line.count > limit { return .tooLong(start: Array(line.prefix(Self.longestStart))) }
            if !Self.isBlank(line) { return .message(Array(line)) }
        }
    }

    private mutating func nextMeasured() throws(RPCFailure) -> Frame? {
        if length == nil { length = try takeHeader() }
        guard let length else { return nil }
        if length > limit {
            self.length = nil
            skipping = .bytes(length)
            return .tooLong(start: Array(bytes[start...].prefix(min(length, Self.longestStart))))
        }
        guard bytes.count - start >= length else { return nil }
        defer { consume(to: start + length) }
        self.length = nil
        return .message(Array(bytes[start..<start + length]))
    }

    /// The length of the next message, if its header has come whole.
    private mutating func takeHeader() throws(RPCFailure) -> Int? {
        var length: Int?
        var place = start
        while let end = bytes[place...].firstIndex(of: UInt8(ascii: "\n")) {
            var line = bytes[place..<end]
            if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
            place = end + 1
            if place - start > Self.longestHeader { throw Self.unreadable(bytes[start...]) }
            if line.isEmpty {
                // Peers may write an empty line between messages.
                consume(to: place)
                if let length { return length }
                place = start
                continue
            }
            let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(decoding: parts[0], as: UTF8.self).lowercased()
            guard parts.count == 2, Self.isName(name) else { throw Self.unreadable(line) }
            guard name == "content-length" else { continue }
            let digits = parts[1].filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
            guard let value = Int(String(decoding: digits, as: UTF8.self)), value >= 0 else {
                throw Self.unreadable(line)
            }
            length = value
        }
        if bytes.count - start > Self.longestHeader { throw Self.unreadable(bytes[start...]) }
        return nil
    }

    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy { $0 == UInt8(ascii: "-") || 0x61...0x7A ~= $0 || 0x30...0x39 ~= $0 }
    }

    private static func unreadable(_ line: ArraySlice<UInt8>) -> RPCFailure {
        let shown = PlainText.escape(String(decoding: line.prefix(100), as: UTF8.self))
        return RPCFailure(.malformed, "a message begins with '\(shown)' and not with its Content-Length")
    }

    /// The next line break, counted from the beginning of the bytes.
    private mutating func lineBreak() -> Int? {
        let from = max(start, searched)
        let found = unsafe bytes.withUnsafeBufferPointer { buffer -> Int? in
            guard let base = buffer.baseAddress, from < buffer.count,
                let place = unsafe memchr(base + from, Int32(UInt8(ascii: "\n")), buffer.count - from)
            else { return nil }
            return unsafe UnsafeRawPointer(place) - UnsafeRawPointer(base)
        }
        searched = found ?? bytes.count
        return found
    }

    private mutating func consume(to place: Int) {
        start = place
        searched = max(searched, place)
        if start == bytes.count { (bytes, start, searched) = ([], 0, 0) }
    }

    /// The number of bytes that are kept.
    var held: Int { bytes.count }

    private static func isBlank(_ line: some Collection<UInt8>) -> Bool {
        line.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r") }
    }
}
