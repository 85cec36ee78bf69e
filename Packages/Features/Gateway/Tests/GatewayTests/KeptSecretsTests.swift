import Capabilities
import CoreTesting
import FileKit
import HTTPTesting
import JSON
import Registry
import Synchronization
import Testing

@testable import Gateway

@Suite("gateway.keep-secrets", .timeLimit(.minutes(5)), PersonTrait())
struct KeptSecretsTests {
    private static let known = "oak-tree+birch/elm"
    private static let key = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"

    @Test("The setting decides whether secrets of messages and calls are in stored files", arguments: [false, true])
    func setting(keeps: Bool) async throws {
        try await TemporaryDirectory.run { folder in
            let settings = keeps ? "{gateway: {'keep-secrets': true}}" : "{}"
            let test = try TestHost(
                [MemoryVault.self, PlannerFeature.self, GatewayFeature.self], settings: settings, folder: folder)
            test.host.redactor.learn(Secret(Self.known), named: "lab")
            let provider = try #require(test.composition.registry.all((any ModelProvider).self).first)
            let words = "run `echo \(Self.known) \(Self.key)`"
            var request = ChatRequest(model: "martlet-offline", messages: [Message(.user, words)])
            request.mode = .full
            let notices = Mutex<[String]>([])
            let answer = try await provider.answer(request) { events in
                for case .notice(let text) in events { notices.withLock { $0.append(text) } }
            }
            let told = notices.withLock { $0 }.filter { $0.contains("a secret in this session is not stored") }
            #expect(told.count == (keeps ? 0 : 1), "\(told)")
            let result = answer.message.parts.compactMap { if case .result(let one) = $0 { one.content } else { nil } }
            #expect(result.joined().contains(Self.known) && result.joined().contains(Self.key), "\(result)")
            await test.session.close()

            let files = try Files.list("\(folder)/data").filter { $0.kind == .regular }.map(\.name)
            #expect(files.contains("gateway.db"))
            for secret in [Self.known, Self.key] {
                let found = try files.contains { name in
                    let bytes = try Files.read("\(folder)/data/\(name)", limit: 1 << 26)
                    return String(decoding: bytes, as: UTF8.self).contains(secret)
                }
                #expect(found == keeps, "\(secret)")
            }
        }
    }
}
