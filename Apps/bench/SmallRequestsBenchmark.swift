import Cryptography
import FileKit
import HTTPClient
import HTTPCore
import HTTPTesting

/// 100,000 requests for a few bytes against the curl program, over HTTP/1.1 one after another and over HTTP/2, which means
/// with TLS, a hundred at a time; and against httpx one after another.
enum SmallRequestsBenchmark {
    private static let count = 100_000
    private static let size = 128
    /// httpx is so slow that a tenth has to do; figures are per request.
    private static let peerCount = 10_000

    static func run() async throws -> [Figure] {
        let certificates = try TestCertificates.shared()
        return try await Nginx.run(tls: certificates.good, isLogging: false) { nginx in
            // Not shorter: nginx takes a connection over HTTP/2 that carries hardly any payload for an attack.
            try Files.writeAtomically([UInt8](repeating: 65, count: size), to: "\(nginx.files)/small.bin")
            let authority = "\(nginx.files)/authority.pem"
            try Files.writeAtomically(Array(certificates.authority.chainPEM.utf8), to: authority)
            let plain = "http://127.0.0.1:\(nginx.port)/hello"
            let multiplexed = "https://127.0.0.1:\(nginx.tlsPort)/small.bin"
            var configuration = HTTPClient.Configuration.standalone
            configuration.trust = TrustDomain(authorities: .file(authority))
            let client = HTTPClient(configuration)
            var ours = (first: Double.infinity, second: Double.infinity)
            var curl = (first: Double.infinity, second: Double.infinity)
            for _ in 0..<3 {
                ours.first = min(ours.first, try await oneByOne(client, plain))
                curl.first = min(curl.first, try await program(plain, ["--http1.1"]))
                ours.second = min(ours.second, try await sideBySide(client, multiplexed))
                curl.second = min(
                    curl.second, try await program(multiplexed, ["--cacert", authority, "-Z", "--parallel-max", "100"]))
            }
            let httpx = try await Peers.output(
                Peers.python, [Peers.path("get_httpx.py"), plain, "\(peerCount)", "http1", "-"])
            await client.close()
            guard let seconds = Double(httpx.split(separator: "\n").first ?? "") else {
                throw BenchmarkError("httpx printed \(httpx)")
            }
            let peer = seconds / Double(peerCount) * Double(count)
            return [
                Figure("100,000 over HTTP/1.1, wall: ours / curl", ours.first / curl.first, "ratio", .atMost(1)),
                Figure("100,000 over HTTP/2, wall: ours / curl", ours.second / curl.second, "ratio", .atMost(1)),
                Figure("100,000 over HTTP/1.1, wall: httpx / ours", peer / ours.first, "ratio", .atLeast(3)),
                Figure("ours, HTTP/1.1", ours.first, "s"),
                Figure("curl, HTTP/1.1", curl.first, "s"),
                Figure("ours, HTTP/2", ours.second, "s"),
                Figure("curl, HTTP/2", curl.second, "s"),
                Figure("httpx, HTTP/1.1, from 10,000", peer, "s"),
            ]
        }
    }

    private static func oneByOne(_ client: HTTPClient, _ address: String) async throws -> Double {
        let request = HTTPRequest(.get, try HTTPURL(address))
        return try await wall {
            for _ in 0..<count { try check(try await client.send(request)) }
        }
    }

    private static func sideBySide(_ client: HTTPClient, _ address: String) async throws -> Double {
        let request = HTTPRequest(.get, try HTTPURL(address))
        let first = try await client.send(request)
        guard first.version == .http2 else { throw BenchmarkError("nginx answered in \(first.version)") }
        return try await wall {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        for _ in 0..<(count / 100) { try check(try await client.send(request)) }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    private static func check(_ response: HTTPResponse) throws {
        guard response.status == .ok, !response.body.isEmpty else { throw BenchmarkError("a wrong answer came") }
    }

    /// curl fetches the address so many times over the connections that it keeps.
    private static func program(_ address: String, _ options: [String]) async throws -> Double {
        let all = "\(address)?[1-\(count)]"
        return try await Peers.time("curl", ["-s", "-o", "/dev/null"] + options + [all]) / .seconds(1)
    }

    private static func wall(_ work: () async throws -> Void) async rethrows -> Double {
        try await ContinuousClock().measure(work) / .seconds(1)
    }
}
