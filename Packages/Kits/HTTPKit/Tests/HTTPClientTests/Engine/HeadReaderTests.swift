import HTTPCore
import Testing

@testable import HTTPClient

@Suite("Response heads")
struct HeadReaderTests {
    private func read(_ lines: [String], limit: Int = 1000) -> (HeadReader, HeadReader.Step) {
        var reader = HeadReader(limit: limit)
        var step = HeadReader.Step.line
        for line in lines {
            var bytes = Array(line.utf8)
            step = unsafe bytes.withUnsafeMutableBytes { unsafe reader.read(UnsafeRawBufferPointer($0)) }
        }
        return (reader, step)
    }

    @Test("A head's status, version and fields are read with any spacing and both kinds of line end")
    func fields() {
        let (reader, step) = read([
            "HTTP/1.1 404 Not Found\r\n", "Content-Type:text/plain\r\n", "X-A: \t one two \r\n", "Set-Cookie: a=1\n",
            "set-cookie: b=2\r\n", "Empty:\r\n", "no colon\r\n", "\r\n",
        ])
        #expect(step == .complete)
        #expect(reader.status == .notFound && reader.version == .http11)
        #expect(reader.headers["content-type"] == "text/plain")
        #expect(reader.headers["x-a"] == "one two")
        #expect(reader.headers.all("Set-Cookie") == ["a=1", "b=2"])
        #expect(reader.headers["Empty"] == "")
        #expect(reader.headers.count == 5)
    }

    @Test("Interim responses are skipped and their fields dropped")
    func interim() {
        let first = ["HTTP/1.1 103 Early Hints\r\n", "Link: </a>\r\n", "\r\n"]
        #expect(read(first).1 == .interim)
        let (reader, step) = read(first + ["HTTP/2 200 \r\n", "a: b\r\n", "\r\n"])
        #expect(step == .complete && reader.status == .ok && reader.version == .http2)
        #expect(reader.headers.count == 1)
    }

    @Test("Trailers are not fields, but count towards the limit of the head")
    func trailers() {
        let (reader, step) = read(["HTTP/1.0 200 OK\r\n", "\r\n", "X-Late: 1\r\n"])
        #expect(step == .line && reader.headers.isEmpty && reader.version == .http10)
        #expect(read(["HTTP/1.0 200 OK\r\n", "\r\n", "X-Late: 1\r\n"], limit: 25).1 == .tooLarge)
    }

    @Test("A folded line belongs to the one before it")
    func folded() {
        let (reader, _) = read(["HTTP/1.1 200 OK\r\n", "X-A: one\r\n", "  two\r\n", "\r\n"])
        #expect(reader.headers["X-A"] == "one two")
    }

    @Test(
        "Malformed heads do not crash the reader",
        arguments: [
            ["HTTP/\r\n"], ["HTTP/ 200\r\n"], ["HTTP/. .\r\n"], ["HTTP/1.1\r\n", "\r\n"], [":\r\n"], ["\r\n"], [""],
            [" folded first\r\n"], ["HTTP/99999999999999999999.1 99999999999999999999\r\n", "\r\n"],
            ["HTTP/1.1 -5 x\r\n"],
        ])
    func nonsense(_ lines: [String]) {
        #expect(read(lines).1 != .tooLarge)
    }
}
