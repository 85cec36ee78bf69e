/// What stands between the tags of a call, until it is clear where it ends.
///
/// A closing tag in a JSON string does not close the call, unless it turns out that the string was never closed.
struct TagBody {
    private(set) var bytes: [UInt8] = []
    private var closed = 0
    private var opened = 0
    private var isInString = false
    private var isEscaped = false
    /// A string had a line break in it, so that quotes say nothing any more.
    private var isBroken = false
    /// Where the first closing tag stands that seemed to be inside of a string.
    private var firstClose: Int?
    /// Whether it begins as calls do; nil while only spaces have come.
    private var isCall: Bool?
    private var isTooLong = false

    private static let open = Array("<tool_call>".utf8)

    enum End {
        /// The content ends here, and the closing tag follows.
        case closed(Int)
        case tooLong
        /// It was no call.
        case text
    }

    mutating func receive(_ byte: UInt8) -> End? {
        closed = Self.advance(closed, byte, TagParser.close)
        if isTooLong { return closed == TagParser.close.count ? .tooLong : nil }
        bytes.append(byte)
        if closed == TagParser.close.count {
            closed = 0
            let end = bytes.count - TagParser.close.count
            if !isInString { return .closed(close(endingAt: end)) }
            firstClose = firstClose ?? end
        }
        noteBeginning(byte)
        noteString(byte)
        if let firstClose, isBroken || bytes.count - firstClose > TagParser.furthestClose { return .closed(firstClose) }
        if isCall == false {
            opened = Self.advance(opened, byte, Self.open)
            if opened == Self.open.count || bytes.count > TagParser.longestProse { return .text }
        }
        if bytes.count > TagParser.longestCall { isTooLong = true }
        return nil
    }

    /// Where the call really ends: at this tag, unless the quotes only seem to fit and it ended at the first one.
    private func close(endingAt end: Int) -> Int {
        guard let firstClose else { return end }
        return TaggedCall.isJSON(Array(bytes[..<end])) ? end : firstClose
    }

    enum Rest {
        case ends(End)
        case unclosed([UInt8])
    }

    /// What it is when nothing more comes.
    func atEnd() -> Rest {
        if isTooLong { return .ends(.tooLong) }
        if let firstClose { return .ends(.closed(firstClose)) }
        return isCall == true ? .unclosed(Array(bytes.dropLast(closed))) : .ends(.text)
    }

    /// A call begins with a brace, or with a fence around it, which some models cannot leave out.
    private mutating func noteBeginning(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): break
        default: isCall = isCall ?? (byte == UInt8(ascii: "{") || byte == UInt8(ascii: "`"))
        }
    }

    private mutating func noteString(_ byte: UInt8) {
        guard !isBroken else { return }
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\"") {
            isInString.toggle()
        } else if isInString, byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if isInString, byte == UInt8(ascii: "\n") {
            (isInString, isBroken) = (false, true)
        }
    }

    /// How much of a tag has come with one more byte. Only its first byte is `<`, so that nothing has to be gone back.
    private static func advance(_ matched: Int, _ byte: UInt8, _ tag: [UInt8]) -> Int {
        if matched < tag.count, byte == tag[matched] { return matched + 1 }
        return byte == tag[0] ? 1 : 0
    }
}
