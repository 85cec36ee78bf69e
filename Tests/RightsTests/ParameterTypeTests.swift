import Auth
import Capabilities
import Chat
import Gateway
import HostKit
import Registry
import RunnerFrontend
import Testing

/// A grant decides about what a parameter names by the parameter's type. A text is nothing to it.
@Suite("The types of parameters")
struct ParameterTypeTests {
    /// Parameters that speak of such things and name none of them, with the reason.
    private static let texts: [String: String] = [
        "auth.logout server": knownServer, "auth.pat.create server": knownServer, "auth.pat.list server": knownServer,
        "auth.pat.revoke server": knownServer, "auth.pat.rotate server": knownServer,
        "auth.server.check name": knownServer, "auth.server.remove name": knownServer,
        "auth.server.set name": knownServer, "auth.server.use name": knownServer, "auth.status server": knownServer,
        "auth.trust.add fingerprint": "a checksum, which is compared", "auth.whoami server": knownServer,
        "chat.send model": knownServer,
        "config.get key": setting, "config.set key": setting, "config.show key": setting, "config.unset key": setting,
        "gateway.project.list search": "looked for in what is kept",
        "gateway.serve address": "an address of this machine in digits, at which it listens",
        "http.request idempotency-key": "sent to the server that the address names",
        "http.request query": "sent to the server that the address names",
        "shell.run env": "given to a program that may reach no more for it",
    ]
    private static let knownServer = "the name of a server that the person has set up"
    private static let setting = "the name of a setting"

    @Test("that name a file, a server or a secret say so, and these few texts are the exceptions")
    func types() {
        let workbench = Workbench(
            name: "martlet", version: "1.0",
            features: [
                BuiltInFeature(AuthFeature.self), BuiltInFeature(ChatFeature.self), BuiltInFeature(GatewayFeature.self),
                BuiltInFeature(RunnerFeature.self),
            ],
            environment: ["HOME": "/nonexistent", "MARTLET_HOME": "/nonexistent/home", "PATH": "/usr/bin:/bin"])
        #expect(workbench.failure == nil)
        let actions = workbench.registry.actions.all
        #expect(actions.count > 80)
        var found: Set<String> = []
        for action in actions {
            for parameter in action.parameters where Self.isText(parameter.schema) && Self.speaksOfThings(parameter) {
                found.insert("\(action.id) \(parameter.name)")
            }
        }
        for name in found.sorted() where Self.texts[name] == nil {
            Issue.record("\(name) is a text; declare it as a path, a host, the name of a secret or a program")
        }
        for name in Self.texts.keys.sorted() where !found.contains(name) {
            Issue.record("\(name) needs no exception")
        }
    }

    private static func isText(_ schema: Schema) -> Bool {
        switch schema {
        case .any, .string: true
        case .array(let inner), .map(let inner), .optional(let inner): isText(inner)
        case .record(let properties): properties.contains { isText($0.schema) }
        case .boolean, .integer, .number, .choice, .path, .url, .host, .duration, .size, .time, .secret, .secretName,
            .program:
            false
        }
    }

    private static func speaksOfThings(_ parameter: ParameterDeclaration) -> Bool {
        "\(parameter.name) \(parameter.summary)".lowercased()
            .contains(/\b(path|file|folder|host|address|url|server|secret|key)s?\b/)
    }
}
