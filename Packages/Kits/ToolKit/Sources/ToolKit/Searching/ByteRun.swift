import CToolKit

/// Bytes of a set that have to follow one another, such as four digits. To look for them is fast, since of every so many
/// bytes only the last has to be looked at.
struct ByteRun: Sendable {
    /// One for each byte that belongs to the set. All of those beyond ASCII do, for they may be letters or digits too.
    private let members: [UInt8]
    let count: Int

    /// Nil where it would be found in too many lines, or the set is none of the usual ones: `\d`, `\w`, `[0-9a-f_-]`.
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

    /// Where the first one begins in a part of the bytes.
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
                // After these a hyphen is one.
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
