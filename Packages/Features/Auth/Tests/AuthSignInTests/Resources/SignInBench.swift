import Capabilities
import HTTPClient
import Synchronization

@testable import AuthSignIn

/// Sessions at a resource whose users sign in at a provider, with a person who does what they are told.
struct SignInBench: Sendable {
    let provider: Provider
    let client: HTTPClient
    let store = MemoryStore()
    /// The addresses that the browser was sent to, and the codes that were shown.
    let shown = Shown()
    private(set) var hasBrowser = true
    private(set) var clock: any Clock<Duration> = ContinuousClock()

    final class Shown: Sendable {
        private let held = Mutex((addresses: [HTTPURL](), codes: [DeviceCode](), notices: [String]()))

        var addresses: [HTTPURL] { held.withLock { $0.addresses } }
        var codes: [DeviceCode] { held.withLock { $0.codes } }
        var notices: [String] { held.withLock { $0.notices } }

        func add(_ url: HTTPURL) { held.withLock { $0.addresses.append(url) } }
        func add(_ code: DeviceCode) { held.withLock { $0.codes.append(code) } }
        func add(_ notice: String) { held.withLock { $0.notices.append(notice) } }
    }

    /// Lends a provider with a client that may reach this machine, unless another is given.
    static func run(
        _ faults: Provider.Faults = Provider.Faults(), _ configuration: HTTPClient.Configuration = .standalone,
        _ body: (SignInBench) async throws -> Void
    ) async throws {
        try await Provider.run(faults) { provider in
            let client = HTTPClient(configuration)
            let result: Result<Void, any Error>
            do { result = .success(try await body(SignInBench(provider: provider, client: client))) } catch {
                result = .failure(error)
            }
            await client.close()
            try result.get()
        }
    }

    /// The same bench on another machine.
    func having(browser: Bool, clock: any Clock<Duration> = ContinuousClock()) -> SignInBench {
        var copy = self
        (copy.hasBrowser, copy.clock) = (browser, clock)
        return copy
    }

    /// Sessions of the program, which end with the bench's client.
    func sessions(as identity: ResourceClient = ResourceClient(name: "Martlet")) -> ResourceSessions {
        ResourceSessions(
            in: store, as: identity, client: client, now: provider.time.clock,
            ask: .init { _ in
            } hasBrowser: {
                hasBrowser
            } show: { url in
                shown.add(url)
                try await Curl.browse(url.text)
            } showCode: { code in
                shown.add(code)
            } notice: { text in
                shown.add(text)
            }, clock: clock)
    }

    /// Signs in because of a refused request.
    func signIn(_ sessions: ResourceSessions, refusing token: String? = nil) async throws {
        var head = RequestHead(method: "POST", url: provider.resource.text)
        if let token { head.headers.append(("Authorization", Secret("Bearer \(token)"))) }
        _ = try await sessions.answer(ResourceChallenge(.signIn), to: head, for: provider.resource)
    }

    /// The token that a request to the resource is sent with; nil if it has none.
    func token(_ sessions: ResourceSessions) async throws -> String? {
        var head = RequestHead(method: "POST", url: provider.resource.text)
        try await sessions.sign(&head, for: provider.resource)
        return head.headers.first.map { String($0.value.revealed.dropFirst("Bearer ".count)) }
    }
}
