import Capabilities
import DialectTesting
import HTTPClient
import HTTPCore
import HTTPServer
import JSON
import Testing

@Suite("Our reader and the vendor's library over HTTP", .timeLimit(.minutes(5)))
struct VendorReadsFixturesTests {
    /// Each fixture at its number, sent in pieces.
    private static let fixtures = Route(
        .post, "/{number}/v1/messages", "messages", "A fixture", .path("number", "Which", as: Int.self),
        .upload("The request")
    ) { _, number, request in
        _ = try await request.bytes()
        let bytes = Fixture.all[number].bytes
        return .stream("text/event-stream") { body in
            for start in stride(from: 0, to: bytes.count, by: 97) {
                try await body.write(Array(bytes[start..<min(start + 97, bytes.count)]))
            }
        }
    }

    @Test("The model, text, reasoning, calls, usage and failure are equal")
    func equal() async throws {
        try await VendorPeer.withServer([Self.fixtures]) { url in
            let known = Fixture.all.indices.filter { Fixture.all[$0].isKnownToVendor }
            #expect(known.count >= 10)
            let theirs = try await VendorPeer.read(known.map { ("\($0)", true) }, at: url, with: "anthropic_read.py")
            for (number, told) in zip(known, theirs) {
                let fixture = Fixture.all[number]
                let ours = try await read(number, fixture, at: url)
                #expect(ours == fixture.expected, "\(fixture.name)")
                #expect((told["error"]?.string != nil) == (ours.failure != nil), "\(fixture.name)")
                // The library drops what came before a failure.
                guard ours.failure == nil else { continue }
                #expect(told["model"]?.string == ours.model, "\(fixture.name)")
                #expect(told["text"] == .string(ours.text), "\(fixture.name)")
                #expect(told["reasoning"] == .string(ours.reasoning), "\(fixture.name)")
                #expect(told["proofs"] == .array(ours.proofs.map(JSON.string)), "\(fixture.name)")
                let calls = (ours.calls + ours.badCalls).map { $0.replacing(", done", with: "") }
                #expect(told["calls"] == .array(calls.map(JSON.string)), "\(fixture.name)")
                let usage: [JSON]? = ours.usage.inputTokens.map { [.int($0), .int(ours.usage.outputTokens ?? -1)] }
                #expect(told["usage"]?.array == usage, "\(fixture.name)")
            }
        }
    }

    private func read(_ number: Int, _ fixture: Fixture, at url: String) async throws -> Reading {
        let client = HTTPClient(.standalone)
        let request = HTTPRequest(.post, try HTTPURL("\(url)/\(number)/v1/messages"), body: .text("{}"))
        var body: [UInt8] = []
        for try await piece in try await client.open(request).requireSuccess().body { body += piece }
        await client.close()
        return try hear([body]).reading
    }
}
