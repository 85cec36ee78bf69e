import Capabilities
import HTTPCore
import HTTPTesting
import JSON
import Registry
import Testing

@Suite("What a bundle may do", .serialized, .timeLimit(.minutes(5)))
struct PermissionTests {
    @Test(
        "is to read, unless it says more",
        arguments: [
            ("", false), ("permissions: {effects: writes}", false), ("permissions: {effects: destroys}", true),
            ("permissions: {actions: [lab.break]}", true), ("permissions: {actions: ['lab.*']}", true),
        ])
    func effects(permissions: String, isAllowed: Bool) async throws {
        try await Desk.with { desk in
            let text = "name: p\n\(permissions)\nsteps: [{action: lab.break}]"
            let failure = try await desk.failure(text)
            #expect((failure == nil) == isAllowed)
            if !isAllowed {
                #expect(failure?.exit == .usage && failure?.message.contains("permissions.actions") == true)
            }
        }
    }

    @Test("is no more inside of a bundle that permits less")
    func nested() async throws {
        try await Desk.with { desk in
            try desk.write("name: inner\npermissions: {effects: destroys}\nsteps: [{action: lab.break}]", "inner.yaml")
            let failure = try await desk.failure("name: outer\nsteps: [{bundle: inner.yaml}]")
            #expect(failure?.message.contains("the bundle 'outer' does not permit it") == true)
        }
    }

    @Test(
        "is to speak to the servers that it names",
        arguments: [
            ("", true), ("permissions: {hosts: []}", false), ("permissions: {hosts: ['*.example.com']}", false),
            ("permissions: {hosts: ['127.0.0.*']}", true), ("permissions: {hosts: [localhost, '127.0.0.1']}", true),
        ])
    func hosts(permissions: String, isAllowed: Bool) async throws {
        try await ScriptedServer.run({ try $0.answer(200, [:], "hello") }) { server in
            try await Desk.with { desk in
                let run = try await desk.run(
                    "name: p\n\(permissions)\nsteps: [{action: lab.get, with: {url: 'http://127.0.0.1:\(server.port)/'}}]"
                )
                let step = run.json["steps"]?[0]
                #expect(run.exit == (isAllowed ? .done : .usage))
                #expect(step?["result"] == (isAllowed ? "hello" : nil))
                #expect(step?["error"]?["code"] == (isAllowed ? nil : "http.not-permitted"))
            }
        }
    }

    @Test("is, for a bundle inside of another, to speak to servers that both of them name")
    func nestedHosts() async throws {
        try await ScriptedServer.run({ try $0.answer(200, [:], "hello") }) { server in
            try await Desk.with { desk in
                try desk.write(
                    "name: inner\npermissions: {hosts: ['127.0.0.*']}\n"
                        + "steps: [{action: lab.get, with: {url: 'http://127.0.0.1:\(server.port)/'}}]", "inner.yaml")
                for (outer, isAllowed) in [("[]", false), ("['127.*']", true)] {
                    let run = try await desk.run(
                        "name: outer\npermissions: {hosts: \(outer)}\nsteps: [{bundle: inner.yaml}]")
                    #expect(run.exit == (isAllowed ? .done : .usage), "\(run.json.text())")
                    #expect(run.json.text().contains("http.not-permitted") != isAllowed)
                    #expect(run.json.text().contains("the bundle 'outer' may not speak to 127.0.0.1") != isAllowed)
                }
            }
        }
    }
}
