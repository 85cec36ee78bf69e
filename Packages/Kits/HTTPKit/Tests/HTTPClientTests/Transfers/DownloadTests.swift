import CoreTesting
import Glibc
import HTTPClient
import HTTPCore
import HTTPTesting
import Testing

@Suite("Downloads")
struct DownloadTests {
    private static let size = 5 << 20

    private static let file: ScriptedServer.Script = { connection in
        while true {
            let request = try connection.receiveHead()
            switch request.target {
            case "/missing":
                try connection.answer(404, ["Content-Type": "application/json"], #"{"error": "no such model"}"#)
            case "/cut":
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")
                return
            default:
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(DownloadTests.size)\r\n\r\n")
                try connection.send([UInt8](repeating: 9, count: DownloadTests.size))
            }
        }
    }

    private func status(_ path: String) -> stat? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status : nil
    }

    @Test("A download creates a new file with the whole body", .timeLimit(.minutes(5)))
    func whole() async throws {
        try await TemporaryDirectory.run { folder in
            try await ScriptedServer.run(Self.file) { server in
                try await Lab.client { client in
                    let path = "\(folder)/model"
                    let download = try await client.download(try Lab.request(server.port, "/model"), to: path)
                    #expect(download.count == Self.size && download.status == .ok)
                    #expect(status(path)?.st_size == Self.size)
                    // An existing file is neither overwritten nor removed.
                    let error = await Lab.failure {
                        _ = try await client.download(try Lab.request(server.port, "/model"), to: path)
                    }
                    #expect(error?.kind == .body && status(path)?.st_size == Self.size)
                }
            }
        }
    }

    @Test("A failed download leaves no file and reports the server's message", .timeLimit(.minutes(5)))
    func failed() async throws {
        try await TemporaryDirectory.run { folder in
            try await ScriptedServer.run(Self.file) { server in
                try await Lab.client { client in
                    let path = "\(folder)/model"
                    let missing = await Lab.failure {
                        _ = try await client.download(try Lab.request(server.port, "/missing"), to: path)
                    }
                    #expect(missing?.kind == .status && missing?.status == .notFound)
                    #expect(missing?.message.hasSuffix("answered 404 Not Found: no such model") == true)
                    #expect(status(path) == nil)
                    let cut = await Lab.failure {
                        _ = try await client.download(try Lab.request(server.port, "/cut"), to: path)
                    }
                    #expect(cut?.kind == .cut && status(path) == nil)
                }
            }
        }
    }

    @Test("A full disk is an error that ends the transfer", .timeLimit(.minutes(5)))
    func full() async throws {
        try await ScriptedServer.run(Self.file) { server in
            try await Lab.client { client in
                let full = unsafe open("/dev/full", O_WRONLY | O_CLOEXEC)
                defer { close(full) }
                let error = await Lab.failure {
                    _ = try await client.download(try Lab.request(server.port, "/model"), to: full)
                }
                #expect(error?.kind == .body && error?.message.contains("no space left") == true)
                try await server.until { $0.openNow == 0 }
            }
        }
    }
}
