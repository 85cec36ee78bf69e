import Testing

@testable import HTTPCore

@Suite("WebSocket frames", .timeLimit(.minutes(5)))
struct WebSocketReaderTests {
    @Test("The examples of RFC 6455, section 5.7, are read and written byte by byte")
    func examples() {
        let hello = frame(.text, "Hello")
        #expect(bytes(hello, by: .server) == [0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F])
        var masked: [UInt8] = []
        hello.append(to: &masked, mask: UInt32(littleEndian: 0x3D21_FA37))
        #expect(masked == [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58])
        #expect(read(masked, as: .server).inputs == [.message(.text("Hello"))])
        #expect(
            read([0x01, 0x03, 0x48, 0x65, 0x6C, 0x80, 0x02, 0x6C, 0x6F], as: .client).inputs == [
                .message(.text("Hello"))
            ])
        #expect(read([0x89, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F], as: .client).inputs == [.ping(Array("Hello".utf8))])
        #expect(
            bytes(WebSocketFrame(.binary, .init(repeating: 0, count: 256)), by: .server).prefix(4) == [
                0x82, 0x7E, 1, 0,
            ])
        #expect(
            bytes(WebSocketFrame(.binary, .init(repeating: 0, count: 65_536)), by: .server).prefix(10) == [
                0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0,
            ])
    }

    static let sizes = [0, 1, 2, 3, 7, 8, 9, 125, 126, 127, 128, 65_535, 65_536, 65_537, 300_000]

    @Test(
        "A message of one side is read by the other, whole or in fragments", arguments: sizes,
        [WebSocketRole.client, .server])
    func roundTrip(size: Int, role: WebSocketRole) {
        let payload = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        let whole = bytes(WebSocketFrame(.binary, payload), by: role)
        #expect(read(whole, as: role.other) == Reading(inputs: [.message(.binary(payload))]))

        let text = String(repeating: "aé漢😀", count: size / 10 + 1)
        let third = max(1, text.utf8.count / 3)
        let utf8 = Array(text.utf8)
        let fragments = [
            WebSocketFrame(.text, Array(utf8.prefix(third)), isFinal: false),
            WebSocketFrame(.continuation, [], isFinal: false),
            WebSocketFrame(.ping, [1]),
            WebSocketFrame(.continuation, Array(utf8.dropFirst(third)), isFinal: true),
        ]
        let expected = Reading(inputs: [.ping([1]), .message(.text(text))])
        #expect(read(bytes(fragments, by: role), as: role.other) == expected)
    }

    @Test("Any cut of the bytes gives the same inputs", arguments: [WebSocketRole.client, .server])
    func cuts(role: WebSocketRole) {
        let corpus = bytes(
            [
                frame(.text, "größer 漢字 😀"), frame(.text, "", isFinal: false), frame(.ping, "are you there"),
                frame(.continuation, "ab", isFinal: false), frame(.pong, ""), frame(.continuation, "ü"),
                WebSocketFrame(.binary, Array(repeating: 200, count: 130)), WebSocketFrame(.binary),
                WebSocketFrame(.close, [0x03, 0xE8] + Array("bye".utf8)),
            ], by: role)
        let whole = read(corpus, as: role.other)
        #expect(whole.inputs.count == 7)
        #expect(whole.violation == nil)
        for first in 0...corpus.count {
            #expect(read([corpus[..<first], corpus[first...]], as: role.other) == whole)
            let second = min(corpus.count, first + 5)
            #expect(read([corpus[..<first], corpus[first..<second], corpus[second...]], as: role.other) == whole)
        }
        #expect(read(corpus.indices.map { corpus[$0...$0] }, as: role.other) == whole)
    }

    @Test("Bytes filled into the reader's own buffer are read like others")
    func fill() throws {
        let payload = [UInt8](repeating: 9, count: 1_000)
        let source = bytes(WebSocketFrame(.binary, payload), by: .server)
        var reader = WebSocketReader(role: .client)
        var sent = 0
        var found: WebSocketReader.Input?
        while found == nil, sent < source.count {
            let count = unsafe reader.fill(capacity: 64) { space in
                let part = source[sent..<min(sent + space.count, source.count)]
                for (index, byte) in part.enumerated() { unsafe space[index] = byte }
                return part.count
            }
            sent += count
            found = try reader.next()
            reader.releaseMemory()
        }
        #expect(found == .message(.binary(payload)))
    }

    @Test("Masking combines each byte with the mask's byte at its position, for any offset and length")
    func mask() {
        for length in 0..<40 {
            for offset in 0..<9 {
                let mask = WebSocketMask(bytes: UInt32(littleEndian: 0x0403_0201))
                var data = [UInt8](repeating: 0x50, count: length)
                unsafe data.withUnsafeMutableBytes { unsafe mask.advanced(by: offset).apply(to: $0) }
                #expect(data == (0..<length).map { 0x50 ^ UInt8(($0 + offset) % 4 + 1) })
            }
        }
    }

    @Test("Lengths are written in their shortest form, and longer forms are refused")
    func lengths() {
        for (size, count) in [(0, 2), (125, 2), (126, 4), (65_535, 4), (65_536, 10)] {
            #expect(bytes(WebSocketFrame(.binary, .init(repeating: 0, count: size)), by: .server).count == count + size)
        }
        for wrong: [UInt8] in [
            [0x82, 126, 0, 125], [0x82, 126, 0, 0], [0x82, 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF],
            [0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0],
        ] {
            let reading = read(wrong, as: .client)
            #expect(reading.inputs.isEmpty)
            #expect(reading.violation?.closeCode == .protocolError)
            #expect(read(wrong.indices.map { wrong[$0...$0] }, as: .client) == reading)
        }
    }
}
