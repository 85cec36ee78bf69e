import CoreTesting
import Testing

@testable import HTTPCore

@Suite("WebSocket violations", .timeLimit(.minutes(5)))
struct WebSocketViolationTests {
    /// The server's bytes, and the close code with which the client answers.
    static let refused: [(name: String, bytes: [UInt8], code: WebSocketCloseCode)] = [
        ("the first reserved bit", [0xC1, 0], .protocolError), ("the second", [0xA1, 0], .protocolError),
        ("the third", [0x91, 0], .protocolError), ("a masked frame", [0x81, 0x80, 1, 2, 3, 4], .protocolError),
        ("a continuation of nothing", [0x80, 0], .protocolError),
        ("a message within another", [0x01, 0, 0x81, 0], .protocolError),
        ("a continuation after the end", [0x01, 0, 0x80, 0, 0x80, 0], .protocolError),
        ("a fragmented ping", [0x09, 0], .protocolError), ("a fragmented close", [0x08, 0], .protocolError),
        ("a long ping", [0x89, 126, 0, 126] + [UInt8](repeating: 0, count: 126), .protocolError),
        ("half a close code", [0x88, 1, 3], .protocolError),
        ("a reason that is not UTF-8", [0x88, 3, 3, 0xE8, 0xFF], .invalidData),
        ("a text that is not UTF-8", [0x81, 1, 0xFF], .invalidData),
        ("a text that ends in a character", [0x81, 1, 0xC3], .invalidData),
        ("a character broken by the next fragment", [0x01, 1, 0xC3, 0x80, 1, 0x41], .invalidData),
        ("a surrogate", [0x81, 3, 0xED, 0xA0, 0x80], .invalidData),
    ]

    @Test("Each protocol violation has its close code, however the bytes are cut", arguments: refused.indices)
    func breaches(index: Int) {
        let (name, bytes, code) = Self.refused[index]
        let reading = read(bytes, as: .client)
        #expect(reading.violation?.closeCode == code, "\(name)")
        #expect(reading.violation?.message.isEmpty == false)
        #expect(read(bytes.indices.map { bytes[$0...$0] }, as: .client) == reading)
    }

    @Test("Every reserved opcode is refused", arguments: [3, 4, 5, 6, 7, 11, 12, 13, 14, 15] as [UInt8])
    func opcodes(opcode: UInt8) {
        #expect(read([0x80 | opcode, 0], as: .client).violation?.closeCode == .protocolError)
    }

    @Test("Only the close codes that may be sent are accepted, of all 65,536")
    func closeCodes() {
        for code in UInt16.min ... .max {
            let reading = read([0x88, 2, UInt8(code >> 8), UInt8(code & 0xFF)], as: .client)
            switch code {
            case 1000...1003, 1007...1014, 3000...4999:
                guard reading.inputs == [.close(WebSocketClose(WebSocketCloseCode(rawValue: code)))] else {
                    Issue.record("\(code) is allowed")
                    return
                }
            default:
                guard reading.violation?.closeCode == .protocolError else {
                    Issue.record("\(code) is not allowed")
                    return
                }
            }
        }
    }

    @Test("A server refuses a client's frame without a mask")
    func unmasked() {
        #expect(read([0x81, 0], as: .server).violation?.closeCode == .protocolError)
    }

    @Test("A frame or a message beyond the limit is refused by its header, before its first byte")
    func limits() {
        #expect(read([0x82, 126, 0x04, 0x01], as: .client, limit: 1_024).violation?.closeCode == .tooLarge)
        #expect(
            read([0x82, 127, 0x7F] + .init(repeating: 0xFF, count: 7), as: .client).violation?.closeCode == .tooLarge)
        let most = bytes(WebSocketFrame(.binary, .init(repeating: 0, count: 1_024)), by: .server)
        #expect(read(most, as: .client, limit: 1_024).inputs.count == 1)
        // The limit applies to the sum of the fragments.
        let fragments = bytes(
            [
                WebSocketFrame(.binary, .init(repeating: 0, count: 1_000), isFinal: false),
                WebSocketFrame(.continuation, .init(repeating: 0, count: 24), isFinal: false),
                WebSocketFrame(.continuation, [0]),
            ], by: .server)
        let reading = read(fragments, as: .client, limit: 1_024)
        #expect(reading.violation?.closeCode == .tooLarge)
        #expect(reading.violation?.message.contains("1024") == true)
    }

    @Test("An invalid text is refused at its first invalid byte, not at the end of the message")
    func early() {
        // The header announces 100 bytes; the second is invalid.
        #expect(read([0x01, 100, 0x41, 0xFF], as: .client).violation?.closeCode == .invalidData)
    }

    @Test("Bytes after a close or a violation are not read")
    func afterwards() throws {
        #expect(read([0x88, 0, 0xFF, 0xFF, 0x81, 0], as: .client) == Reading(inputs: [.close(WebSocketClose(nil))]))
        var reader = WebSocketReader(role: .client)
        let wrong: [UInt8] = [0xFF, 0xFF, 0x81, 0x00]
        unsafe wrong.withUnsafeBytes { unsafe reader.append($0) }
        #expect(throws: WebSocketViolation.self) { try reader.next() }
        #expect(try reader.next() == nil)
    }

    @Test("Texts are validated as the standard library does it, in parts cut anywhere")
    func unicode() {
        var generator = SeededGenerator(seed: 20)
        // Bytes near the range borders, so that both outcomes are frequent.
        let borders: [UInt8] = [
            0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE,
            0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
        ]
        var outcomes = [true: 0, false: 0]
        for _ in 0..<40_000 {
            var text = [UInt8](repeating: 0x61, count: Int.random(in: 0...9, using: &generator))
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                text.append(borders.randomElement(using: &generator) ?? 0)
            }
            let isValid = String(validating: text, as: UTF8.self) != nil
            let cut = Int.random(in: 0...text.count, using: &generator)
            var checker = UTF8Checker()
            let accepted = [text[..<cut], text[cut...]].allSatisfy { part in
                unsafe part.withUnsafeBytes { unsafe checker.accept($0) }
            }
            guard (accepted && checker.isComplete) == isValid else {
                Issue.record("\(text) is \(isValid ? "" : "not ")UTF-8")
                return
            }
            outcomes[isValid, default: 0] += 1
        }
        #expect(outcomes.values.allSatisfy { $0 > 1_000 })
    }

    @Test("Damaged bytes do not crash the reader and read the same in any cut")
    func fuzz() {
        var generator = SeededGenerator(seed: 7)
        let corpus = bytes(
            [
                frame(.text, "grün", isFinal: false), frame(.ping, "x"), frame(.continuation, "😀"),
                WebSocketFrame(.binary, .init(repeating: 1, count: 200)), WebSocketFrame(.close, [3, 0xE8, 0x41]),
            ], by: .client)
        var refused = 0
        for _ in 0..<20_000 {
            var changed = corpus
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let index = Int.random(in: 0..<changed.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: changed[index] = UInt8.random(in: .min ... .max, using: &generator)
                case 1: changed.remove(at: index)
                default: changed.insert(UInt8.random(in: .min ... .max, using: &generator), at: index)
                }
            }
            let cut = Int.random(in: 0...changed.count, using: &generator)
            let whole = read(changed, as: .server, limit: 4_096)
            guard read([changed[..<cut], changed[cut...]], as: .server, limit: 4_096) == whole else {
                Issue.record("a cut at \(cut) changes what is read of \(changed)")
                return
            }
            if whole.violation != nil { refused += 1 }
        }
        #expect(refused > 1_000)
    }
}
