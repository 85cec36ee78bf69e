import CoreTesting
import FileKit
import Glibc
import HTTPCore
import HTTPServer
import HTTPTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct FileTests {
    private func withFiles(_ body: (TestServer, [UInt8]) async throws -> Void) async throws {
        try await TemporaryDirectory.run { folder in
            var generator = SeededBytes(seed: 7)
            let content = (0..<300_000).map { _ in UInt8(generator.next(256)) }
            try Files.writeAtomically(content, to: "\(folder)/data.bin")
            try Files.writeAtomically([], to: "\(folder)/empty.bin")
            try Files.writeAtomically(
                Array(String(repeating: "all work and no play\n", count: 500).utf8), to: "\(folder)/text.txt")
            unsafe mkfifo("\(folder)/pipe", 0o600)
            let routes = [
                Route(.get, "/files/{name}", "file", "A file", .path("name", "Which")) { _, name in
                    HTTPAnswer.file("\(folder)/\(name)")
                },
                Route(.get, "/bytes", "bytes", "Bytes") { _ in
                    HTTPAnswer.bytes(Array("0123456789".utf8), type: "text/plain", etag: "\"v1\"")
                },
            ]
            try await withServer(routes) { server in try await body(server, content) }
        }
    }

    @Test("A curl client gets the ranges that it requests")
    func ranges() async throws {
        try await withFiles { server, content in
            let url = "\(server.url)/files/data.bin"
            for (range, expected) in [
                ("0-0", 0..<1), ("0-99", 0..<100), ("1000-", 1000..<300_000), ("-500", 299_500..<300_000),
                ("299999-", 299_999..<300_000), ("100-999999999", 100..<300_000), ("-999999999", 0..<300_000),
                ("131072-262143", 131_072..<262_144),
            ] {
                #expect(try await Curl.bytes(["-r", range, url]) == Array(content[expected]), "\(range)")
            }
            #expect(try await Curl.bytes([url]) == content)
            let part = try await server.get("/files/data.bin", "Range: bytes=5-9")
            #expect(part.status == 206 && part.contains("Content-Range: bytes 5-9/300000\r\n"))
            #expect(part.contains("Content-Length: 5\r\n") && part.contains("Accept-Ranges: bytes\r\n"))
            for beyond in ["bytes=300000-", "bytes=-0"] {
                let answer = try await server.get("/files/data.bin", "Range: \(beyond)")
                #expect(answer.status == 416 && answer.contains("Content-Range: bytes */300000\r\n"))
            }
            for odd in ["bytes=5-4", "bytes=a-b", "bytes=0-1,3-4", "lines=0-1", "bytes=", "bytes=--1"] {
                let line = try await Curl.run("-o", "/dev/null", "-w", "%{http_code}", "-H", "Range: \(odd)", url)
                #expect(line == "200", "\(odd)")
            }
        }
    }

    @Test("A conditional range request gets the whole file once the file has changed")
    func conditions() async throws {
        try await withFiles { server, _ in
            let head = try await server.exchange(
                "HEAD /files/data.bin HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            func line(_ name: String) -> String {
                head.split(separator: "\r\n").first { $0.hasPrefix(name + ": ") }.map {
                    String($0.dropFirst(name.count + 2))
                }
                    ?? ""
            }
            let (etag, modified) = (line("ETag"), line("Last-Modified"))
            #expect(head.status == 200 && head.contains("Content-Length: 300000\r\n") && etag.hasPrefix("\""))
            func status(_ lines: String...) async throws -> Int? {
                var arguments = ["-o", "/dev/null", "-w", "%{http_code}"]
                for line in lines { arguments += ["-H", line] }
                return Int(
                    String(decoding: try await Curl.bytes(arguments + ["\(server.url)/files/data.bin"]), as: UTF8.self))
            }
            #expect(try await status("Range: bytes=0-9", "If-Range: \(etag)") == 206)
            #expect(try await status("Range: bytes=0-9", "If-Range: \(modified)") == 206)
            #expect(try await status("Range: bytes=0-9", "If-Range: \"other\"") == 200)
            #expect(try await status("Range: bytes=0-9", "If-Range: W/\(etag)") == 200)
            #expect(try await status("If-None-Match: \(etag)") == 304)
            #expect(try await status("If-None-Match: \"x\", W/\(etag)") == 304)
            #expect(try await status("If-None-Match: *") == 304)
            #expect(try await status("If-None-Match: \"x\"", "If-Modified-Since: \(modified)") == 200)
            #expect(try await status("If-Modified-Since: \(modified)") == 304)
            #expect(try await status("If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT") == 200)
            #expect(try await server.get("/bytes", "Range: bytes=-3").answerBody == "789")
            let known = try await server.get("/bytes", "If-None-Match: \"v1\"")
            #expect(known.status == 304 && known.contains("ETag: \"v1\"\r\n") && known.answerBody.isEmpty)
            #expect(!known.contains("Content-Length"))
        }
    }

    @Test("A missing file and a pipe are not found, and an absolute path is refused")
    func others() async throws {
        try await withFiles { server, _ in
            for (name, status) in [("missing", 404), ("pipe", 404), ("%2Fetc", 400), ("%2Fdev%2Fzero", 400)] {
                #expect(try await server.get("/files/\(name)").status == status, "\(name)")
            }
            let empty = try await server.get("/files/empty.bin")
            #expect(empty.status == 200 && empty.contains("Content-Length: 0\r\n"))
        }
    }

    @Test("Text is compressed for clients that accept gzip, and Python reads it")
    func compression() async throws {
        try await withFiles { server, _ in
            let program = """
                import gzip, http.client, sys
                connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
                for accept in ["gzip", "br;q=1, gzip;q=0.5", "*", "", "gzip;q=0", "identity", "br, *;q=0"]:
                    connection.request("GET", "/files/text.txt", headers={"Accept-Encoding": accept})
                    answer = connection.getresponse()
                    body = answer.read()
                    encoding = answer.headers.get("Content-Encoding")
                    assert answer.headers["Vary"] == "Accept-Encoding", answer.headers
                    if encoding == "gzip":
                        assert len(body) < 500 and answer.headers["ETag"].startswith("W/"), len(body)
                        body = gzip.decompress(body)
                    else:
                        assert answer.headers["ETag"].startswith('"')
                    assert body == b"all work and no play\\n" * 500
                    print(accept, encoding, sep="|")
                connection.request("GET", "/files/data.bin", headers={"Accept-Encoding": "gzip"})
                answer = connection.getresponse()
                assert answer.headers.get("Content-Encoding") is None and len(answer.read()) == 300000
                """
            let words = try await PythonPeer.output(source: program, ["\(server.port)"])
            #expect(
                words.split(separator: "\n") == [
                    "gzip|gzip", "br;q=1, gzip;q=0.5|gzip", "*|gzip", "|None", "gzip;q=0|None", "identity|None",
                    "br, *;q=0|None",
                ])
        }
    }
}
