import HTTPCore

/// What a `Range` header asks for of so many bytes.
enum ByteRange: Equatable {
    /// Everything: the header is absent, malformed, of another unit, or asks for several ranges at once, which a
    /// server may answer with everything.
    case everything
    case part(Range<Int>)
    /// Nothing of it is there.
    case unsatisfiable

    init(_ header: String?, of length: Int) {
        self = .everything
        guard let header, header.lowercased().hasPrefix("bytes=") else { return }
        let text = header.dropFirst(6).trimmingSpaces
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return }
        if parts[0].isEmpty {
            guard let count = Self.number(parts[1]) else { return }
            self = count == 0 || length == 0 ? .unsatisfiable : .part(max(0, length - count)..<length)
            return
        }
        guard let first = Self.number(parts[0]) else { return }
        guard parts[1].isEmpty || Self.number(parts[1]) != nil else { return }
        let last = Self.number(parts[1]) ?? Int.max
        guard first <= last else { return }
        self = first < length ? .part(first..<(min(last, length - 1) + 1)) : .unsatisfiable
    }

    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy(Byte.isDigit) else { return nil }
        return Int(text) ?? Int.max
    }
}

/// Compares what a client has with what there is.
enum EntityTag {
    /// Whether a list such as that of `If-None-Match` has the tag, without regard to `W/`.
    static func matches(_ header: String, _ tag: String) -> Bool {
        header.split(separator: ",").map(\.trimmingSpaces).contains { $0 == "*" || strong($0) == strong(tag[...]) }
    }

    /// Whether the bytes are the same and not only their meaning, as ranges need it.
    static func isSame(_ header: String, _ tag: String) -> Bool {
        header == tag && !tag.hasPrefix("W/")
    }

    private static func strong(_ tag: Substring) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : tag
    }
}
