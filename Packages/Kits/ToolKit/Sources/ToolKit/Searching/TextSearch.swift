import CToolKit

/// Searches bytes for a text, many times as fast as an expression. It checks only places where two rare bytes of the
/// text match, and compares sixteen places at once.
struct TextSearch: Sendable {
    private let bytes: [UInt8]
    private let masks: [UInt8]
    private let first: Int
    private let second: Int
    /// Whether Unicode case folding finds no more than ASCII: `ſ` folds to `s` and the kelvin sign to `k`.
    let holdsBeyondASCII: Bool

    /// Whether a text can be searched in this way. Letters beyond ASCII have upper-case forms with other bytes.
    static func canFind(_ text: [UInt8], ignoringCase: Bool) -> Bool {
        !text.isEmpty && !(ignoringCase && text.contains { $0 >= 0x80 })
    }

    init(_ text: [UInt8], ignoringCase: Bool) {
        let small = ignoringCase ? text.map { Self.isCapital($0) ? $0 | 0x20 : $0 } : text
        bytes = small
        masks = small.map { ignoringCase && Self.isCapital($0 & ~0x20) && $0 & 0x20 != 0 ? 0x20 : 0 }
        let order = small.indices.sorted { Self.frequency(small[$0]) < Self.frequency(small[$1]) }
        first = order[0]
        second = order.first { small[$0] != small[order[0]] } ?? order[order.count - 1]
        holdsBeyondASCII = !ignoringCase || !small.contains { $0 == UInt8(ascii: "s") || $0 == UInt8(ascii: "k") }
    }

    /// The first place in a part of the bytes.
    func first(in searched: Span<UInt8>, _ part: Range<Int>) -> Int? {
        let found = unsafe searched.withUnsafeBufferPointer { searched -> Int in
            unsafe bytes.withUnsafeBufferPointer { bytes in
                unsafe masks.withUnsafeBufferPointer { masks in
                    guard let start = searched.baseAddress, let text = bytes.baseAddress, let mask = masks.baseAddress
                    else { return -1 }
                    var wanted = unsafe toolkit_text(
                        bytes: text, masks: mask, length: bytes.count, first: first, second: second)
                    return unsafe toolkit_find(&wanted, start + part.lowerBound, part.count)
                }
            }
        }
        return found < 0 ? nil : part.lowerBound + found
    }

    private static func isCapital(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) }

    /// The bytes of texts and programs, the most frequent first.
    private static let frequent = Array(" etaonirslcdupmhgfyb_wvk.,\t()\n=-:;\"0x1TSIACE/'2{}NRPLDjqz".utf8)

    private static func frequency(_ byte: UInt8) -> Int {
        frequent.firstIndex(of: byte).map { frequent.count - $0 } ?? 0
    }
}

extension Span<UInt8> {
    /// Whether all bytes of a part are ASCII.
    func isASCII(_ part: Range<Int>) -> Bool {
        unsafe withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return true }
            return unsafe toolkit_is_ascii(start + part.lowerBound, part.count)
        }
    }
}

/// A run of bytes from a set, such as four digits. Searching for it is fast: only the last byte of each possible run
/// must be checked.
struct ByteRun: Sendable {
    /// One entry for each byte, 1 if it belongs to the set. All bytes beyond ASCII belong to it, because they may be
    /// letters or digits too.
    private let members: [UInt8]
    let count: Int

    /// Nil if it would match too many lines, or the set is not a common one: `\d`, `\w`, `[0-9a-f_-]`.
    init?(of set: ArraySlice<UInt8>, count: Int, ignoringCase: Bool) {
        var members = [UInt8](repeating: 0, count: 256)
        guard Self.add(set, to: &members) else { return nil }
        if ignoringCase {
            for capital in 0x41...0x5A where members[capital] | members[capital | 0x20] != 0 {
                (members[capital], members[capital | 0x20]) = (1, 1)
            }
        }
        let size = members.count { $0 == 1 }
        guard count >= (size <= 10 ? 3 : size <= 24 ? 6 : 12), count <= 1000 else { return nil }
        for byte in 0x80...0xFF { members[byte] = 1 }
        (self.members, self.count) = (members, count)
    }

    /// Where the first run begins in a part of the bytes.
    func first(in searched: Span<UInt8>, _ part: Range<Int>) -> Int? {
        let found = unsafe searched.withUnsafeBufferPointer { searched -> Int in
            unsafe members.withUnsafeBufferPointer { members in
                guard let start = searched.baseAddress, let members = members.baseAddress else { return -1 }
                return unsafe toolkit_find_run(members, count, start + part.lowerBound, part.count)
            }
        }
        return found < 0 ? nil : part.lowerBound + found
    }

    private static func add(_ set: ArraySlice<UInt8>, to members: inout [UInt8]) -> Bool {
        var rest = set
        let isSet = rest.first == UInt8(ascii: "[")
        if isSet { rest = rest.dropFirst().dropLast() }
        guard rest.first != UInt8(ascii: "^"), rest.first != UInt8(ascii: "]") else { return false }
        while let byte = rest.popFirst() {
            if byte == Byte.backslash {
                switch rest.popFirst() {
                case UInt8(ascii: "d"): add(0x30...0x39, to: &members)
                case UInt8(ascii: "w"):
                    for range in [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A] as [ClosedRange<UInt8>] {
                        add(range, to: &members)
                    }
                case UInt8(ascii: "-"): add(0x2D...0x2D, to: &members)
                default: return false
                }
                // After these, a hyphen is literal.
                continue
            }
            let after = rest.dropFirst()
            if rest.first == UInt8(ascii: "-"), let last = after.first {
                guard last != Byte.backslash, byte <= last else { return false }
                add(byte...last, to: &members)
                rest = after.dropFirst()
            } else {
                add(byte...byte, to: &members)
            }
        }
        return true
    }

    private static func add(_ bytes: ClosedRange<UInt8>, to members: inout [UInt8]) {
        for byte in bytes { members[Int(byte)] = 1 }
    }
}
