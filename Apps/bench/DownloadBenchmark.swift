import FileKit
import Glibc
import HTTPClient
import HTTPCore
import HTTPTesting

/// 4 GB from nginx to /dev/null, and read as a stream: processor time against the curl program to /dev/null, and whether
/// memory stays flat.
enum DownloadBenchmark {
    static func run() async throws -> [Figure] {
        try await Nginx.run(tls: try TestCertificates.shared().good, isLogging: false) { nginx in
            let address = "http://127.0.0.1:\(nginx.port)/large"
            let url = try HTTPURL(address)
            let client = HTTPClient(.standalone)
            let sink = FileDescriptor(owning: unsafe Glibc.open("/dev/null", O_WRONLY), path: "/dev/null")
            var (file, stream, curl) = (Double.infinity, Double.infinity, Double.infinity)
            var growth = 0
            for round in 0..<4 {
                let memory = try TestProcess.residentBytes()
                let toFile = try await Processor.seconds {
                    let download = try await client.download(HTTPRequest(.get, url), to: sink.rawValue)
                    try check(download.count)
                }
                file = min(file, toFile)
                let streamed = try await Processor.seconds {
                    var count = 0
                    for try await bytes in try await client.open(HTTPRequest(.get, url)).body { count += bytes.count }
                    try check(count)
                }
                stream = min(stream, streamed)
                // The first round fills what is kept for the next.
                if round > 0 { growth = max(growth, try TestProcess.residentBytes() - memory) }
                curl = min(
                    curl, try await Peers.processorTime("curl", ["-s", "-o", "/dev/null", address]) / .seconds(1))
            }
            await client.close()
            return [
                Figure("4 GB to /dev/null, processor time: ours / curl", file / curl, "ratio", .atMost(1.5)),
                Figure(
                    "4 GB as a stream, buffer 64 KiB, processor time: ours / curl", stream / curl, "ratio", .atMost(1.5)
                ),
                Figure("ours to /dev/null", file, "s"),
                Figure("ours as a stream", stream, "s"),
                Figure("curl", curl, "s"),
                Figure("memory after 8 GB, more than before", Double(growth) / 1e6, "MB", .atMost(8)),
            ]
        }
    }

    private static func check(_ count: Int) throws {
        guard count == Nginx.largeSize else { throw BenchmarkError("only \(count) bytes came") }
    }
}

/// What this process uses.
enum Processor {
    /// The processor seconds of all threads that some work took.
    static func seconds(_ work: () async throws -> Void) async rethrows -> Double {
        let start = rusage.own
        try await work()
        return (rusage.own - start) / .seconds(1)
    }
}
