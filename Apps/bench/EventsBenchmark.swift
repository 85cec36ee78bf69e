import FileKit
import HTTPClient
import HTTPCore
import HTTPTesting

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
