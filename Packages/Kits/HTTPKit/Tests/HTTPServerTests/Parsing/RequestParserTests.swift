import HTTPCore
import Testing

@testable import HTTPServer

@Suite struct RequestParserTests {
    static let corpus = [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "\r\nGET /x?y=1 HTTP/1.1\r\nHost: a:80\r\nAccept:  */* \t\r\nEmpty:\r\n\r\nGET /2 HTTP/1.0\r\n\r\n",
        "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\nhello worldGET / HTTP/1.1\r\nHost: b\r\n\r\n",
        "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n6;ext=\"1\"\r\n world\r\n0\r\n"
            + "Trailer: x\r\n\r\nDELETE /d HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET http://example.com:8080?q HTTP/1.1\r\nHost: other\r\n\r\nOPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST /e HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\nPUT /f HTTP/1.1\r\nHost: a\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        // These are refused at some point:
        "GET / HTTP/1.1\r\nHost: a\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx",
        "GET / HTTP/2.0\r\nHost: a\r\n\r\n", "G ET / HTTP/1.1\r\n\r\n", "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n\n\r\n0\r\nBad Trailer: x\r\n\r\n",
    ]

    @Test("Every cut of the bytes gives the same requests", arguments: corpus)
    func cuts(_ text: String) {
        let bytes = Array(text.utf8)
        let whole = Parsed([bytes])
        #expect(!whole.requests.isEmpty || whole.refusal != nil)
        #expect(Parsed(bytes.map { [$0] }) == whole)
        for first in 0...bytes.count {
            #expect(Parsed([Array(bytes[..<first]), Array(bytes[first...])]) == whole, "cut at \(first)")
            for second in stride(from: first, through: bytes.count, by: 3) {
                let pieces = [bytes[..<first], bytes[first..<second], bytes[second...]].map { Array($0) }
                #expect(Parsed(pieces) == whole, "cut at \(first) and \(second)")
            }
        }
    }

    @Test("A head near its limit is accepted or refused the same way in every cut")
    func limits() {
        var limits = RequestParser.Limits()
        limits.head = 96
        limits.target = 20
        for length in 0...120 {
            for text in [
                "GET /\(String(repeating: "a", count: length)) HTTP/1.1\r\nHost: a\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: length))\r\n\r\n",
                "GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: length))",
            ] {
                let bytes = Array(text.utf8)
                let whole = Parsed([bytes], limits: limits)
                #expect(Parsed(bytes.map { [$0] }, limits: limits) == whole, "\(text.count) bytes")
                if length > 90 { #expect([414, 431].contains(whole.refusal)) }
            }
        }
    }

    @Test("A chunked body is joined from its pieces, and the pipelined request after it is read")
    func pieces() {
        let parsed = Parsed(Self.corpus[3])
        #expect(parsed.requests == ["POST /c a 2", "DELETE /d a 1"])
        #expect(parsed.bodies == ["hello world", ""])
        #expect(parsed.refusal == nil)
    }

    @Test("The host of an absolute URL takes precedence over the Host header")
    func absoluteForm() {
        #expect(
            Parsed(Self.corpus[4]).requests == ["GET http://example.com:8080?q example.com:8080 1", "OPTIONS * a 1"])
    }

    @Test("Randomly damaged requests give the same result in every cut")
    func damage() {
        var generator = SeededBytes(seed: 20_260_601)
        for round in 0..<4000 {
            var bytes = Array(Self.corpus[round % Self.corpus.count].utf8)
            for _ in 0..<(1 + generator.next(3)) {
                let place = generator.next(bytes.count)
                switch generator.next(3) {
                case 0: bytes[place] = UInt8(generator.next(256))
                case 1: bytes.insert(Array("\r\n: \0;%5".utf8)[generator.next(8)], at: place)
                default: bytes.remove(at: place)
                }
            }
            let cut = generator.next(bytes.count + 1)
            #expect(Parsed([bytes]) == Parsed([Array(bytes[..<cut]), Array(bytes[cut...])]), "round \(round)")
            #expect(Parsed([bytes]) == Parsed(bytes.map { [$0] }), "round \(round)")
        }
    }
}

/// A generator whose numbers are the same in every run.
struct SeededBytes {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(bound))
    }
}
