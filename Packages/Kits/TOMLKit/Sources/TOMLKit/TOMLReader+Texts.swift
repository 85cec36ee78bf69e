import Capabilities

extension TOMLReader {
    /// `"a\tb"`, on one line.
    mutating func basicString() throws(TOMLError) -> String {
        let start = at
        at += 1
        var text: [UInt8] = []
        while true {
            switch peek {
            case UInt8(ascii: "\"")?:
                at += 1
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\")?: try appendEscape(to: &text)
            default: text.append(try character(of: "text", from: start))
            }
        }
    }

    /// `'a\b'`, on one line, in which nothing is escaped.
    mutating func literalString() throws(TOMLError) -> String {
        let start = at
        at += 1
        var text: [UInt8] = []
        while true {
            if peek == UInt8(ascii: "'") {
                at += 1
                return String(decoding: text, as: UTF8.self)
            }
            text.append(try character(of: "text", from: start))
        }
    }

    /// A text of several lines, in three quotes.
    mutating func longString(_ quote: UInt8) throws(TOMLError) -> String {
        let start = at
        at += 3
        _ = try skipNewline()
        var text: [UInt8] = []
        while true {
            if peek == quote {
                let run = bytes[at...].prefix(5).prefix { $0 == quote }.count
                at += run
                text += Array(repeating: quote, count: run < 3 ? run : run - 3)
                if run >= 3 { return String(decoding: text, as: UTF8.self) }
            } else if peek == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
                if try !skipFoldedLine() { try appendEscape(to: &text) }
            } else if try skipNewline() {
                text.append(UInt8(ascii: "\n"))
            } else {
                text.append(try character(of: "text of several lines", from: start))
            }
        }
    }

    /// Skips a backslash at the end of a line, with all blanks and line breaks that follow it; false if it is not there.
    private mutating func skipFoldedLine() throws(TOMLError) -> Bool {
        let start = at
        at += 1
        skipBlanks()
        guard try skipNewline() else {
            at = start
            return false
        }
        repeat { skipBlanks() } while try skipNewline()
        return true
    }

    private mutating func character(of what: String, from start: Int) throws(TOMLError) -> UInt8 {
        guard let byte = peek, byte != UInt8(ascii: "\n") else {
            throw error(.syntax, "the \(what) that begins here has no end", at: start)
        }
        guard !Self.isControl(byte) else {
            throw error(.syntax, "a control character in a text must be written as an escape")
        }
        at += 1
        return byte
    }

    private mutating func appendEscape(to text: inout [UInt8]) throws(TOMLError) {
        let start = at
        at += 1
        let letter = peek
        at += 1
        switch letter {
        case UInt8(ascii: "b")?: text.append(0x08)
        case UInt8(ascii: "t")?: text.append(0x09)
        case UInt8(ascii: "n")?: text.append(0x0A)
        case UInt8(ascii: "f")?: text.append(0x0C)
        case UInt8(ascii: "r")?: text.append(0x0D)
        case UInt8(ascii: "\"")?: text.append(0x22)
        case UInt8(ascii: "\\")?: text.append(0x5C)
        case UInt8(ascii: "u")?: text += try scalar(digits: 4, from: start)
        case UInt8(ascii: "U")?: text += try scalar(digits: 8, from: start)
        default: throw error(.syntax, "the escape is not known", at: start)
        }
    }

    private mutating func scalar(digits count: Int, from start: Int) throws(TOMLError) -> [UInt8] {
        let digits = String(decoding: bytes[min(at, bytes.count)...].prefix(count), as: UTF8.self)
        // Checked one by one, since a number may also have a sign.
        guard digits.utf8.count == count, digits.allSatisfy({ $0.isASCII && $0.isHexDigit }),
            let scalar = UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init)
        else {
            throw error(.syntax, "the escape needs \(count) digits of a character's number", at: start)
        }
        at += count
        return Array(String(Character(scalar)).utf8)
    }
}
