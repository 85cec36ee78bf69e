import CoreTesting
import HTTPClient
import HTTPCore
import HTTPTesting
import TestTraits
import Testing

/// Each test runs in its own process, whose memory no other test uses, and one after the other because they are heavy.
/// The benchmark does the same with more data.
@Suite("Memory of large transfers", .serialized, .alone)
struct MemoryTests {
    @Test("Downloading 512 MiB uses little memory", .timeLimit(.minutes(5)))
    func download() async {
        await #expect(processExitsWith: .success) {
            try await Nginx.run(tls: try TestCertificates.shared().good) { nginx in
                try await Lab.client { client in
                    var request = try Lab.request(nginx.port, "/large")
                    request.headers["Range"] = "bytes=0-\((512 << 20) - 1)"
                    let exchange = try await client.open(request)
                    var (total, before) = (0, 0)
                    for try await bytes in exchange.body {
                        total += bytes.count
                        if before == 0 { before = try TestProcess.residentBytes() }
                    }
                    let grown = try TestProcess.residentBytes() - before
                    #expect(total == 512 << 20 && grown < 8 << 20, "\(grown)")
                }
            }
        }
    }

    @Test("Uploading 512 MiB from a file and from a stream uses little memory", .timeLimit(.minutes(5)))
    func upload() async {
        await #expect(processExitsWith: .success) {
            try await TemporaryDirectory.run { folder in
                try SparseFile.make("\(folder)/large", size: 512 << 20)
                try await ScriptedServer.run { connection in
                    while true {
                        let request = try connection.receiveHead()
                        if request.headers.has("Expect", "100-continue") {
                            try connection.send("HTTP/1.1 100 Continue\r\n\r\n")
                        }
                        try connection.discard(Int(request.headers["Content-Length"] ?? "") ?? 0)
                        try connection.answer(200, [:], "taken")
                    }
                } during: { server in
                    try await Lab.client { client in
                        let block = [UInt8](repeating: 7, count: 1 << 18)
                        let bodies: [HTTPBody] = [
                            .file(path: "\(folder)/large"),
                            .stream(length: 512 << 20, Pieces(pieces: [block], times: 1 << 11)),
                        ]
                        // The first request's own allocations, such as the engine's thread, are not counted.
                        _ = try await client.send(try Lab.request(server.port, method: .put, body: .bytes(block)))
                        let before = try TestProcess.residentBytes()
                        for body in bodies {
                            let answer = try await client.send(try Lab.request(server.port, method: .put, body: body))
                            #expect(answer.text == "taken")
                        }
                        let grown = try TestProcess.residentBytes() - before
                        #expect(grown < 8 << 20, "\(grown)")
                        #expect(server.record.bytesReceived > 1 << 30)
                    }
                }
            }
        }
    }

    @Test("Reading a million events uses little memory", .timeLimit(.minutes(5)))
    func million() async {
        await #expect(processExitsWith: .success) {
            let block = Array(
                String(repeating: "event: tick\nid: 7\ndata: {\"delta\": \"word\"}\n\n", count: 1000).utf8)
            try await ScriptedServer.run { connection in
                try connection.receiveHead()
                try connection.beginEvents()
                for _ in 0..<1000 { try connection.send(block) }
            } during: { server in
                try await Lab.client { client in
                    let exchange = try await client.open(try Lab.request(server.port))
                    var (count, before) = (0, 0)
                    for try await batch in exchange.events().batches {
                        count += batch.count
                        if before == 0 { before = try TestProcess.residentBytes() }
                    }
                    let grown = try TestProcess.residentBytes() - before
                    #expect(count == 1_000_000 && grown < 8 << 20, "\(count), \(grown)")
                }
            }
        }
    }

    @Test("A flood of events is received only as fast as its reader reads it", .timeLimit(.minutes(5)))
    func flood() async {
        await #expect(processExitsWith: .success) {
            let block = Array(String(repeating: "data: \(String(repeating: "x", count: 242))\n\n", count: 256).utf8)
            try await ScriptedServer.run { connection in
                try connection.receiveHead()
                try connection.beginEvents()
                try connection.sendEndlessly(block)
            } during: { server in
                try await Lab.client { client in
                    let exchange = try await client.open(try Lab.request(server.port))
                    var events = exchange.events().makeAsyncIterator()
                    var taken = 0
                    _ = try await events.next()
                    let before = try TestProcess.residentBytes()
                    // The server gets ahead of the reader only by the size of the buffers between them.
                    for _ in 0..<8 {
                        for _ in 0..<20_000 {
                            let event = try #require(try await events.next())
                            taken += event.data.count + 8
                        }
                        let sent = server.record.bytesSent
                        #expect(sent - taken < 16 << 20, "\(sent) for \(taken)")
                    }
                    let grown = try TestProcess.residentBytes() - before
                    #expect(taken > 32 << 20 && grown < 8 << 20, "\(grown)")
                    exchange.cancel()
                    try await server.until { $0.openNow == 0 }
                }
            }
        }
    }

    @Test("A gigabyte of zeros in a megabyte of gzip stops at the limit, whole or as a stream", .timeLimit(.minutes(5)))
    func bomb() async {
        await #expect(processExitsWith: .success) {
            let bomb = try await gzipOfZeros(megabytes: 1024)
            try #require((900_000..<2_000_000).contains(bomb.count))
            try await ScriptedServer.run { connection in
                try connection.receiveHead()
                try connection.send(
                    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bomb.count)\r\n\r\n")
                try connection.send(bomb)
                try connection.stall()
            } during: { server in
                try await Lab.client { client in
                    // This opens the libraries, so that their memory is not counted.
                    _ = try HTTPClient.installedLibraryVersion()
                    let before = try TestProcess.residentBytes()
                    var request = try Lab.request(server.port)
                    request.acceptsCompressed = true
                    request.limits.body = 4 << 20
                    let error = await Lab.failure { [request] in _ = try await client.send(request) }
                    #expect(error?.kind == .tooLarge, "\(error?.message ?? "")")
                    let streamed = await Lab.failure { [request] in
                        _ = try await client.open(request).collect(limit: 4 << 20)
                    }
                    #expect(streamed?.kind == .tooLarge, "\(streamed?.message ?? "")")
                    let grown = try TestProcess.residentBytes() - before
                    #expect(grown < 96 << 20, "\(grown)")
                    try await server.until { $0.connections.count == 2 && $0.openNow == 0 }
                }
            }
        }
    }
}

/// Mebibytes of zeros, compressed to about a thousandth.
func gzipOfZeros(megabytes: Int) async throws -> [UInt8] {
    let text = try await PythonPeer.output(
        source: """
            import base64, sys, zlib
            packer = zlib.compressobj(9, zlib.DEFLATED, 31)
            zeros = bytes(1 << 20)
            packed = b"".join(packer.compress(zeros) for _ in range(int(sys.argv[1]))) + packer.flush()
            sys.stdout.write(base64.b16encode(packed).decode())
            """, ["\(megabytes)"])
    let digits = Array(text.utf8).map { $0 < 58 ? $0 - 48 : $0 - 55 }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}
