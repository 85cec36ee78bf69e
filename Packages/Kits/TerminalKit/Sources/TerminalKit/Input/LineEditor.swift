import Glibc

/// The line that the user types, byte by byte. It knows keys but no terminal.
struct LineEditor: Sendable {
    enum Step: Equatable {
        case unfinished, finished, end, interrupted, suspended, tooLong
    }

    static let limit = 65_536

    private(set) var bytes: [UInt8] = []
    private let isSecret: Bool
    private var escape = Escape.none

    /// Keys such as the arrows arrive as ESC and some more bytes, which are not text.
    private enum Escape {
        case none, started, sequence, oneMore
        /// A report of the terminal, up to its end.
        case report
    }

    init(isSecret: Bool) {
        self.isSecret = isSecret
        // A secret must not leave copies in buffers that it has outgrown.
        if isSecret { bytes.reserveCapacity(Self.limit) }
    }

    mutating func receive(_ byte: UInt8) -> Step {
        if isPartOfKey(byte) { return .unfinished }
        switch byte {
        case 0x0A, 0x0D: return .finished
        case 0x03: return .interrupted
        case 0x1A: return .suspended
        case 0x04: return bytes.isEmpty ? .end : .unfinished
        case 0x08, 0x7F: removeLast()
        case 0x15: wipe()
        case 0x09, 0x20...:
            if bytes.count == Self.limit { return .tooLong }
            bytes.append(byte)
        default: break
        }
        return .unfinished
    }

    /// Overwrites and forgets the typed text.
    mutating func wipe() {
        unsafe bytes.withUnsafeMutableBytes { buffer in
            if let start = buffer.baseAddress { unsafe explicit_bzero(start, buffer.count) }
        }
        bytes.removeAll(keepingCapacity: true)
    }

    private mutating func isPartOfKey(_ byte: UInt8) -> Bool {
        switch escape {
        case .none:
            guard byte == 0x1B else { return false }
            escape = .started
        case .started:
            switch byte {
            case UInt8(ascii: "["): escape = .sequence
            case UInt8(ascii: "O"): escape = .oneMore
            case UInt8(ascii: "]"): escape = .report
            default: escape = .none
            }
        case .report: if byte == 0x07 || byte == 0x1B { escape = byte == 0x07 ? .none : .started }
        case .sequence: if (0x40...0x7E).contains(byte) { escape = .none }
        case .oneMore: escape = .none
        }
        // Ctrl-C and Return work even after a lone Escape.
        guard byte == 0x03 || byte == 0x0A || byte == 0x0D else { return true }
        escape = .none
        return false
    }

    private mutating func removeLast() {
        var count = 1
        if isSecret {
            while count < bytes.count && bytes[bytes.count - count] & 0xC0 == 0x80 { count += 1 }
        } else {
            count = String(decoding: bytes, as: UTF8.self).last?.utf8.count ?? 1
        }
        for _ in 0..<min(count, bytes.count) {
            bytes[bytes.count - 1] = 0
            bytes.removeLast()
        }
    }
}

extension LineEditor {
    /// The end of the typed line that fits `width` columns, sanitised.
    func visibleTail(width: Int) -> String {
        let text = Sanitizer.sanitize(String(decoding: bytes, as: UTF8.self))
        var start = text.endIndex
        var used = 0
        while start > text.startIndex {
            let before = text.index(before: start)
            used += TextWidth.of(text[before])
            if used > width { break }
            start = before
        }
        return String(text[start...])
    }
}
