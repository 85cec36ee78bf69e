import AuthSignIn
import Capabilities
import HostTesting
import Registry
import Testing

@testable import Auth

@Suite("Resources that want their users to sign in", .timeLimit(.minutes(1)))
struct ResourceSignInTests {
    @Test("Without a session requests stay as they are, and without a person nobody signs in")
    func headless() async throws {
        try await TestWorkbench.withAuth { bench in
            try await bench.open { session in
                let resources = try session.registry.one((any ResourceSignIn).self)
                let resource = ResourceAddress("http://127.0.0.1:9/mcp")
                var head = RequestHead(method: "POST", url: resource.text)
                try await resources.sign(&head, for: resource)
                #expect(head.headers.isEmpty)
                let refused = head
                let error = await #expect(throws: SignInError.self) {
                    _ = try await resources.answer(ResourceChallenge(.signIn), to: refused, for: resource)
                }
                #expect(error?.kind == .unanswered && error?.message.contains(resource.text) == true)
            }
        }
    }
}
