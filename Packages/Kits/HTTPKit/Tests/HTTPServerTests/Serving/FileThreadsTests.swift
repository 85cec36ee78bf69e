import Glibc
import HTTPCore
import JSON
import LoopKit
import Synchronization
import Testing

@testable import HTTPServer

@Suite("File threads", .timeLimit(.minutes(5)))
struct FileThreadsTests {
    @Test("Blocking work on the file threads blocks neither a task nor a loop")
    func blocking() async throws {
        let files = FileThreads()
        defer { files.end() }
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let (reader, writer) = (ends[0], ends[1])
        // Twice as many jobs as threads, so that each thread blocks on one while another waits behind it.
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await files.run {
                        var byte: UInt8 = 0
                        return unsafe read(reader, &byte, 1)
                    }
                }
            }
            let hello = Route(.get, "/hello", "hello", "Says hello") { _ in HTTPAnswer.text("hello") }
            try await withServer([hello]) { server in
                for _ in 0..<20 {
                    let answer = try await server.get("/hello")
                    #expect(answer.answerBody == "hello")
                }
            }
            let bytes = [UInt8](repeating: 1, count: 8)
            #expect(unsafe write(writer, bytes, 8) == 8)
            #expect(try await group.reduce(0, +) == 8)
        }
        #expect(files.count == 8)
    }

    @Test("Work after the threads have ended still runs")
    func afterEnd() async throws {
        let files = FileThreads()
        #expect(try await files.run { 1 } == 1)
        files.end()
        #expect(try await files.run { 2 } == 2)
        #expect(files.count == 1)
    }

    @Test("Large files, large compression and large bodies run on file threads, small ones do not")
    func routes() async throws {
        let folder = "/tmp/martlet-test-\(UInt64.random(in: .min ... .max))"
        try #require(unsafe mkdir(folder, 0o700) == 0)
        defer {
            unsafe unlink("\(folder)/large")
            unsafe unlink("\(folder)/small")
            unsafe rmdir(folder)
        }
        let text = [UInt8](repeating: UInt8(ascii: "a"), count: 1 << 20)
        for (name, count) in [("large", 1 << 20), ("small", 5)] {
            let file = unsafe open("\(folder)/\(name)", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            #expect(unsafe write(file, text, count) == count)
            close(file)
        }
        let routes = [
            Route(.get, "/file/{name}", "file", "A file", .path("name", "Which")) { _, name in
                HTTPAnswer.file("\(folder)/\(name)", type: "text/plain")
            },
            Route(.get, "/text/{size}", "text", "A text", .path("size", "How long")) { _, size in
                HTTPAnswer.bytes(Array(text.prefix(Int(size) ?? 0)), type: "text/plain")
            },
            Route(.post, "/body", "body", "How long", .body(JSON.self)) { _, note in
                HTTPAnswer.text("\(note["text"]?.string?.utf8.count ?? 0)")
            },
        ]
        let gzip = "Accept-Encoding: gzip"
        try await withCore(routes) { server, core in
            func works(_ name: String, _ expected: Int, _ work: () async throws -> String) async throws {
                let before = core.files.count
                let answer = try await work()
                #expect(answer.status == 200, "\(name)")
                #expect(core.files.count - before == expected, "\(name)")
            }
            try await works("a large file", 1) { try await server.get("/file/large") }
            try await works("a large file to compress", 1) { try await server.get("/file/large", gzip) }
            try await works("a small file", 0) { try await server.get("/file/small", gzip) }
            try await works("a large text to compress", 1) { try await server.get("/text/1048576", gzip) }
            try await works("a large text as it is", 0) { try await server.get("/text/1048576") }
            try await works("a small text to compress", 0) { try await server.get("/text/2000", gzip) }
            for (size, expected) in [(300_000, 1), (10, 0)] {
                let body = "{\"text\":\"\(String(repeating: "x", count: size))\"}"
                let head = "POST /body HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                try await works("a body of \(size)", expected) {
                    try await server.exchange("\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
                }
            }
        }
    }

    /// Runs a server and lends the state that its connections share.
    private func withCore(
        _ routes: [Route], _ body: (TestServer, ServerCore) async throws -> Void
    ) async throws {
        let configuration = ServerConfiguration()
        let core = ServerCore(try Routes(routes), configuration)
        let server = HTTPServer(try Routes(routes), configuration)
        let (started, signal) = AsyncStream.makeStream(of: [BoundAddress].self)
        let loop = EventLoop()
        defer { loop.stop() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run(core) { signal.yield($0) } }
            var iterator = started.makeAsyncIterator()
            let addresses = try #require(await iterator.next())
            try await body(TestServer(addresses: addresses, loop: loop), core)
            group.cancelAll()
            try await group.waitForAll()
        }
    }
}
