import Glibc
import HTTPClient
import HTTPCore
import HTTPTesting

/// 4 GB from nginx to /dev/null: processor time against the curl program, and whether memory stays flat.
enum DownloadBenchmark {
    static func run() async throws -> [Figure] {
        try await Nginx.run(tls: try TestCertificates.shared().good, isLogging: false) { nginx in
            let address = "http://127.0.0.1:\(nginx.port)/large"
            let url = try HTTPURL(address)
            let client = HTTPClient()
            var (ours, theirs) = (Double.infinity, Double.infinity)
            var growth = 0
            for round in 0..<4 {
                let memory = try TestProcess.residentBytes()
                let time = try await Processor.seconds {
                    var count = 0
                    for try await bytes in try await client.open(HTTPRequest(.get, url)).body { count += bytes.count }
                    guard count == Nginx.largeSize else { throw BenchmarkError("only \(count) bytes came") }
                }
                ours = min(ours, time)
                // The first round fills what is kept for the next.
                if round > 0 { growth = max(growth, try TestProcess.residentBytes() - memory) }
                let curl = try await Peers.processorTime("curl", ["-s", "-o", "/dev/null", address])
                theirs = min(theirs, curl / .seconds(1))
            }
            await client.close()
            return [
                Figure("4 GB download, processor time: ours / curl", ours / theirs, "ratio", .atMost(1.5)),
                Figure("ours", ours, "s"),
                Figure("curl", theirs, "s"),
                Figure("memory after 4 GB, more than before", Double(growth) / 1e6, "MB", .atMost(8)),
            ]
        }
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
