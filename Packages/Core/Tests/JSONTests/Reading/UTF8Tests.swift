import JSON
import Testing

@Suite("UTF-8 check", .timeLimit(.minutes(5)))
struct UTF8Tests {
    @Test("The check agrees with the standard library on every pair of bytes")
    func pairs() throws {
        for first in UInt8(0x80)...0xFF {
            for second in UInt8(0x5D)...0xFF { try check([first, second]) }
        }
    }

    @Test("The check agrees with the standard library at the limits of longer sequences", arguments: UInt8(0xE0)...0xF8)
    func edges(first: UInt8) throws {
        let seconds: [UInt8] = [0x7F, 0x80, 0x81, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0]
        let others: [UInt8] = [0x20, 0x7F, 0x80, 0xBF, 0xC0]
        for second in seconds {
            for third in others {
                try check([first, second, third])
                for fourth in others { try check([first, second, third, fourth]) }
            }
        }
    }

    /// Checks that a string of these bytes is read, refused or repaired as the standard library does it.
    private func check(_ bytes: [UInt8]) throws {
        let valid = String(validating: bytes, as: UTF8.self)
        for padding in [[], Array("0123456789é".utf8)] as [[UInt8]] {
            let text = [0x22] + padding + bytes + padding + [0x22]
            let repaired = String(decoding: padding + bytes + padding, as: UTF8.self)
            if valid == nil {
                #expect(throws: JSONError.self, "\(bytes)") { try JSON(parsing: text) }
            } else {
                #expect(try JSON(parsing: text).string == repaired, "\(bytes)")
            }
            #expect(try JSON(parsing: text, reading: .stream).string == repaired, "\(bytes)")
        }
    }
}
