import AuthSignIn
import Capabilities
import CoreTesting
import HTTPCore
import HTTPTesting
import HostTesting
import JSON
import Registry
import Settings
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

    /// Meets a resource as the client of an MCP server does, and returns what its requests are signed with.
    private struct VisitFeature: Feature {
        static let manifest = Manifest(id: "visit", summary: "Visits of resources", version: "1.0")

        init(_ settings: FeatureSettings) {}

        func register(in registry: inout RegistryBuilder) {
            registry.add(
                Action("visit.sign-in", "Sign in", .writes, .argument("resource", "The resource", as: String.self)) {
                    context, text in
                    let resource = ResourceAddress(text)
                    let signIn = try context.registry.one((any ResourceSignIn).self)
                    let refused = RequestHead(method: "POST", url: text)
                    _ = try await signIn.answer(ResourceChallenge(.signIn), to: refused, for: resource)
                    var head = refused
                    try await signIn.sign(&head, for: resource)
                    return head.headers.map { $0.value.plain }
                })
        }
    }

    /// A resource and its sign-in server, which has codes for devices and registers nobody.
    private static let server: ScriptedServer.Script = { connection in
        while true {
            let request = try connection.receiveRequest()
            let origin = "http://\(request.headers["Host"] ?? "")"
            let answer: JSON
            switch request.target {
            case "/.well-known/oauth-protected-resource/mcp":
                answer = ["resource": .string("\(origin)/mcp"), "authorization_servers": [.string(origin)]]
            case "/.well-known/openid-configuration":
                answer = [
                    "issuer": .string(origin), "token_endpoint": .string("\(origin)/token"),
                    "device_authorization_endpoint": .string("\(origin)/device"),
                ]
            case "/device":
                answer = [
                    "device_code": "d", "user_code": "WDJB-MJHT", "verification_uri": .string("\(origin)/activate"),
                    "interval": 1,
                ]
            default: answer = ["access_token": "token of ada", "token_type": "Bearer"]
            }
            try connection.answer(200, ["Content-Type": "application/json"], answer.text())
        }
    }

    /// Lends a workbench whose settings name a client with a secret, and the person.
    private func withClient(
        _ body: (ScriptedServer, inout TestWorkbench, _ resource: String) async throws -> Void
    ) async throws {
        try await ScriptedServer.run(Self.server) { server in
            try await TestWorkbench.withAuth { bench in
                bench.features.append(BuiltInFeature(VisitFeature.self))
                let origin = "http://127.0.0.1:\(server.port)"
                let client: JSON = ["issuer": .string(origin), "client-id": "martlet-7", "secret": "login"]
                try bench.write(settings: JSON.object(["auth": ["resource-clients": [client]]]).text())
                try await body(server, &bench, "\(origin)/mcp")
            }
        }
    }

    @Test("A client of the settings signs in by a code, with its secret of the vault")
    func client() async throws {
        try await withClient { server, bench, resource in
            let ada = ScriptedPerson(["auth.resource.sign-in": [true]])
            bench.person = ada
            try await bench.perform("auth.secret.set", ["name": "login", "value": "s3cret"])
            let done = try await bench.perform("visit.sign-in", ["resource": .string(resource)])
            #expect(done.json == ["Bearer token of ada"])
            #expect(done.notices.contains("/activate") && done.notices.contains("enter the code WDJB-MJHT"))
            // There is no browser, so that none is promised.
            #expect(ada.prompts.first?.contains("browser") == false)
            let posts = server.record.requests.filter { $0.method == "POST" }
            #expect(posts.map(\.target) == ["/device", "/token"])
            let basic = "Basic \(Base64.encode(Array("martlet-7:s3cret".utf8)))"
            #expect(posts.allSatisfy { $0.headers["Authorization"] == basic })
        }
    }

    @Test("A client without its secret, or a person who says no, asks the sign-in server for nothing")
    func refused() async throws {
        try await withClient { server, bench, resource in
            bench.person = ScriptedPerson(["auth.resource.sign-in": [false, true]])
            let declined = try await bench.failure("visit.sign-in", ["resource": .string(resource)])
            #expect(declined?.code == "interaction.declined" && server.record.requests.isEmpty)
            let lacking = try await bench.failure("visit.sign-in", ["resource": .string(resource)])
            #expect(lacking?.code == "auth.client" && lacking?.exit == .denied)
            #expect(lacking?.message.contains("martlet auth secret set login") == true)
            #expect(!server.record.requests.contains { $0.method == "POST" })
        }
    }

    @Test(
        "Settings of another form are told with their place",
        arguments: [
            ("[{'issuer': 'https://a.example'}]", "client-id"),
            ("[{'client-id': 'c', 'isuer': 'https://a.example'}]", "isuer"),
            ("[{'client-id': 'c', 'issuer': 'a.example'}]", "issuer"), ("'c'", "resource-clients"),
        ])
    func settings(text: String, place: String) async throws {
        try await TestWorkbench.withAuth { bench in
            try bench.write(settings: "{auth: {'resource-clients': \(text)}}")
            let failure = try await bench.failure("auth.status")
            #expect(failure?.exit == .usage && failure?.message.contains(place) == true, "\(failure?.message ?? "")")
        }
    }
}
