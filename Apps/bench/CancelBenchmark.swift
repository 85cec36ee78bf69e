import HTTPClient
import HTTPCore
import HTTPTesting

/// How long it takes from the cancellation of a task that reads an endless answer until the task is over.
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
