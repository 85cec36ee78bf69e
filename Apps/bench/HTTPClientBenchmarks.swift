import Capabilities
import CoreTesting
import Cryptography
import FileKit
import Glibc
import HTTPClient
import HTTPCore
import HTTPTesting

/// 4 GB from nginx to /dev/null, and read as a stream: processor time against the curl program to /dev/null, and
/// whether memory stays constant.
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
                // The first round warms up buffers and connections.
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

/// The resources that this process uses.
enum Processor {
    /// The processor time of all threads for some work, in seconds.
    static func seconds(_ work: () async throws -> Void) async rethrows -> Double {
        let start = rusage.own
        try await work()
        return (rusage.own - start) / .seconds(1)
    }
}

/// 100,000 small requests against the curl program, sequentially over HTTP/1.1 and a hundred at a time over HTTP/2 with
/// TLS; and against httpx sequentially.
enum SmallRequestsBenchmark {
    private static let count = 100_000
    private static let size = 128
    /// httpx is so slow that a tenth of the requests must do; figures are per request.
    private static let peerCount = 10_000

    static func run() async throws -> [Figure] {
        let certificates = try TestCertificates.shared()
        return try await Nginx.run(tls: certificates.good, isLogging: false) { nginx in
            // Not shorter: nginx treats an HTTP/2 connection with hardly any payload as an attack.
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

    /// curl fetches the address `count` times over its kept connections.
    private static func program(_ address: String, _ options: [String]) async throws -> Double {
        let all = "\(address)?[1-\(count)]"
        return try await Peers.time("curl", ["-s", "-o", "/dev/null"] + options + [all]) / .seconds(1)
    }

    private static func wall(_ work: () async throws -> Void) async rethrows -> Double {
        try await ContinuousClock().measure(work) / .seconds(1)
    }
}

/// A stream of one million events: processor time against `curl -N` to /dev/null, which only receives them, and against
/// httpx-sse, which reads a twentieth of them.
enum EventsBenchmark {
    private static let count = 1_000_000
    private static let peerCount = 50_000

    static func run() async throws -> [Figure] {
        try await Nginx.run(tls: try TestCertificates.shared().good, isLogging: false) { nginx in
            try write(count, to: "\(nginx.files)/all.events")
            try write(peerCount, to: "\(nginx.files)/some.events")
            let address = "http://127.0.0.1:\(nginx.port)/all.events"
            let client = HTTPClient(.standalone)
            var (ours, usual, curl) = (Double.infinity, Double.infinity, Double.infinity)
            var growth = 0
            for round in 0..<5 {
                let memory = try TestProcess.residentBytes()
                ours = min(ours, try await Processor.seconds { try await read(client, address, buffer: 512 << 10) })
                usual = min(usual, try await Processor.seconds { try await read(client, address, buffer: nil) })
                if round > 0 { growth = max(growth, try TestProcess.residentBytes() - memory) }
                curl = min(
                    curl, try await Peers.processorTime("curl", ["-sN", "-o", "/dev/null", address]) / .seconds(1))
            }
            await client.close()
            let words = try await Peers.output(
                Peers.python, [Peers.path("read_events.py"), "http://127.0.0.1:\(nginx.port)/some.events"]
            ).split(whereSeparator: \.isWhitespace)
            guard words.count == 2, Int(words[0]) == peerCount, let seconds = Double(words[1]) else {
                throw BenchmarkError("httpx-sse printed \(words)")
            }
            let peer = seconds / Double(peerCount) * Double(count)
            return [
                Figure(
                    "1,000,000 events, buffer 512 KiB, processor time: ours / curl -N", ours / curl, "ratio", .atMost(4)
                ),
                Figure(
                    "1,000,000 events, buffer 512 KiB, processor time: httpx-sse / ours", peer / ours, "ratio",
                    .atLeast(20)),
                Figure("the same with the usual buffer of 64 KiB: ours / curl -N", usual / curl, "ratio", .atMost(4)),
                Figure("ours", ours, "s"),
                Figure("ours with the usual buffer", usual, "s"),
                Figure("curl -N", curl, "s"),
                Figure("httpx-sse, from 50,000", peer, "s"),
                Figure("memory after 1,000,000 events, more than before", Double(growth) / 1e6, "MB", .atMost(8)),
            ]
        }
    }

    private static func read(_ client: HTTPClient, _ address: String, buffer: Int?) async throws {
        var (events, bytes) = (0, 0)
        var request = HTTPRequest(.get, try HTTPURL(address))
        if let buffer { request.limits.buffer = buffer }
        let exchange = try await client.open(request)
        for try await batch in exchange.events().batches {
            events += batch.count
            for event in batch { bytes += event.data.count }
        }
        guard events == count, bytes > 100 * count else { throw BenchmarkError("only \(events) events came") }
    }

    private static func write(_ count: Int, to path: String) throws {
        var text: [UInt8] = []
        text.reserveCapacity(count * 240)
        for number in 0..<count {
            let chunk = """
                data: {"id":"chatcmpl-9a7b1c","object":"chat.completion.chunk","created":1763600000,"model":"gpt-5-mini",\
                "choices":[{"index":0,"delta":{"content":" word\(number)"},"logprobs":null,"finish_reason":null}]}


                """
            text.append(contentsOf: chunk.utf8)
        }
        try Files.writeAtomically(text, to: path)
    }
}

/// Round trips of messages of 64 bytes to an echo server written with the websockets package: our client against that
/// package's.
enum WebSocketBenchmark {
    private static let count = 20_000

    static func run() async throws -> [Figure] {
        try await PythonPeer.run(file: Peers.path("echo_websocket.py")) { server in
            let address = "ws://127.0.0.1:\(server.port)/"
            var (ours, theirs) = (Double.infinity, Double.infinity)
            for _ in 0..<3 {
                ours = min(ours, try await median(address))
                let words = try await Peers.output(
                    Peers.python, [Peers.path("ping_websocket.py"), address, "\(count)"])
                guard let seconds = Double(words.split(separator: "\n").first ?? "") else {
                    throw BenchmarkError("the peer printed \(words)")
                }
                theirs = min(theirs, seconds)
            }
            return [
                Figure("round trip, median: ours / Python websockets", ours / theirs, "ratio", .atMost(0.5)),
                Figure("ours", ours * 1e6, "us"),
                Figure("Python websockets", theirs * 1e6, "us"),
            ]
        }
    }

    private static func median(_ address: String) async throws -> Double {
        let socket = try await WebSocketClient(withoutCaller: .person).connect(try WebSocketRequest(address))
        let message = WebSocketMessage.binary([UInt8](repeating: UInt8(ascii: "x"), count: 64))
        var times: [Double] = []
        for _ in 0..<count {
            let start = ContinuousClock.now
            try await socket.send(message)
            guard let answer = try await socket.receive(), answer == message else {
                throw BenchmarkError("the server sent something else back")
            }
            times.append((ContinuousClock.now - start) / .seconds(1))
        }
        await socket.close()
        times.sort()
        return times[times.count / 2]
    }
}

/// The time from the cancellation of a task that reads an endless answer until its end.
enum CancelBenchmark {
    static func run() async throws -> [Figure] {
        try await Nginx.run(tls: try TestCertificates.shared().good, isLogging: false) { nginx in
            let request = HTTPRequest(.get, try HTTPURL("http://127.0.0.1:\(nginx.port)/slow"))
            let client = HTTPClient(.standalone)
            var times: [Double] = []
            for _ in 0..<500 { times.append(try await cancelOne(client, request)) }
            await client.close()
            times.sort()
            return [
                Figure("cancelling a stream, p99", times[times.count * 99 / 100] * 1000, "ms", .atMost(50)),
                Figure("cancelling a stream, median", times[times.count / 2] * 1000, "ms"),
            ]
        }
    }

    private static func cancelOne(_ client: HTTPClient, _ request: HTTPRequest) async throws -> Double {
        let (begun, told) = AsyncStream.makeStream(of: Void.self)
        let reader = Task {
            for try await _ in try await client.open(request).body { told.yield() }
        }
        for await _ in begun { break }
        let start = ContinuousClock.now
        reader.cancel()
        let result = await reader.result
        let time = (ContinuousClock.now - start) / .seconds(1)
        guard case .failure(let error) = result, error is CancellationError else {
            throw BenchmarkError("the reader was not cancelled")
        }
        return time
    }
}
