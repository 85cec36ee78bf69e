import CToolKit

/// Looks for a text in bytes, many times as fast as an expression could: places are worth a look where two of its bytes
/// stand that are rare in texts, and sixteen places are looked at at once.
struct TextSearch: Sendable {
    private let bytes: [UInt8]
    private let masks: [UInt8]
    private let first: Int
    private let second: Int
    /// Whether small and capital letters are the same also to those who know all of Unicode: `ſ` is an `s` and the sign
    /// for kelvin a `k`.
    let holdsBeyondASCII: Bool

    /// Whether it can be looked for in this way; letters beyond ASCII have capitals of other bytes.
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

    /// Where it stands first in a part of the bytes.
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

    /// What texts and programs are made of, the most frequent first.
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
