import Capabilities
import CoreTesting
import FileKit
import Glibc
import HTTPCore
import HTTPTesting
import HostTesting
import JSON
import Registry
import Testing

@Suite("Bundle permissions", .serialized, .timeLimit(.minutes(5)))
struct PermissionTests {
    @Test(
        "A bundle may only read unless it permits more",
        arguments: [
            ("", false), ("permissions: {effects: writes}", false), ("permissions: {effects: destroys}", true),
            ("permissions: {actions: [lab.break]}", true), ("permissions: {actions: ['lab.*']}", true),
        ])
    func effects(permissions: String, isAllowed: Bool) async throws {
        try await TestWorkbench.withRunner { bench in
            let text = "name: p\n\(permissions)\nsteps: [{action: lab.break}]"
            let failure = try await bench.failure(ofBundle: text)
            #expect((failure == nil) == isAllowed)
            if !isAllowed {
                #expect(failure?.exit == .usage && failure?.message.contains("permissions.actions") == true)
            }
        }
    }

    @Test("Nested bundles are checked quickly, and a bundle that runs itself by another spelling is found")
    func circles() async throws {
        try await TestWorkbench.withRunner { bench in
            try FileKit.Files.makeDirectories("\(bench.folder)/sub")
            let circle = "steps: [{bundle: sub/../b.yaml, needs: []}, {bundle: ./b.yaml, needs: []}]"
            let failure = try await bench.failure(ofBundle: "name: c\n\(circle)")
            #expect(failure?.message.contains("the bundle would run itself") == true, "\(failure?.message ?? "")")
            // Each bundle runs the next one twice: 2^40 paths, but one check for each file.
            for number in 1..<40 {
                let next = "n\(number + 1).yaml"
                try bench.write(
                    "name: n\(number)\nsteps: [{bundle: \(next), needs: []}, {bundle: ./\(next), needs: []}]",
                    to: "n\(number).yaml")
            }
            try bench.write("name: last\nsteps: [{action: lab.break}]", to: "n40.yaml")
            let deep = try await bench.failure(ofBundle: "name: n0\nsteps: [{bundle: n1.yaml}]")
            #expect(deep?.message.contains("the bundle 'n0' does not permit it") == true, "\(deep?.message ?? "")")
        }
    }

    @Test("A bundle may run only listed programs, in a writable folder, without network")
    func programs() async throws {
        try await TestWorkbench.withRunner { bench in
            bench.environment["PATH"] = "/usr/bin:/bin"
            func text(_ permissions: String, _ with: String) -> String {
                "name: p\npermissions: {\(permissions)}\nsteps: [{id: s, action: shell.run, with: {\(with)}}]"
            }
            let work = "folder: '\(bench.folder)/work'"
            let all = "effects: writes, paths: ['\(bench.folder)/work'], programs: [sh]"
            try FileKit.Files.makeDirectories("\(bench.folder)/work")
            try bench.write("inside", to: "work/f")
            try bench.write("outside", to: "beside")
            let script =
                "program: sh, arguments: [-c, 'cat f ../beside; cat $HOME/beside; echo $MINE > made'], env: {MINE: own}"
            for (permissions, words) in [
                ("effects: writes, paths: ['\(bench.folder)/work']", "add programs: [\"sh\"] to permissions"),
                (
                    "effects: writes, programs: [make], paths: ['\(bench.folder)/work']",
                    "add \"sh\" to permissions.programs"
                ),
                ("programs: [sh], paths: ['\(bench.folder)/work']", "permissions.effects to writes"),
                ("effects: writes, programs: [sh]", "may not write \(bench.folder)/work"),
            ] {
                let failure = try await bench.failure(ofBundle: text(permissions, "\(work), \(script)"))
                #expect(failure?.message.contains(words) == true, "\(failure?.message ?? "")")
            }
            let run = try await bench.run(text(all, "\(work), \(script)"))
            let result = run.json["steps"]?[0]?["result"]
            #expect(run.exit == .done && result?["exit_code"] == 0, "\(run.json)")
            #expect(result?["output"]?.string?.hasPrefix("inside") == true, "\(run.json)")
            #expect(result?["output"]?.string?.contains("outside") == false, "\(run.json)")
            #expect(try bench.read("work/made") == "own\n" && !Files.exists("\(bench.folder)/work/.claude"))
            let network = try await bench.run(text(all, "\(work), program: sh, arguments: [-c, 'true'], network: true"))
            #expect(
                network.json["steps"]?[0]?["error"]?["message"]?.string?.contains("add hosts: [\"*\"]") == true,
                "\(network.json)")
            let failed = try await bench.run(text(all, "\(work), program: sh, arguments: [-c, 'echo why; exit 3']"))
            let step = failed.json["steps"]?[0]
            #expect(failed.exit == .toolFailed && step?["result"]?["output"] == "why\n", "\(failed.json)")
            #expect(
                step?["error"]?["message"]?.string?.contains("sh ended with exit code 3: why") == true,
                "\(failed.json)")
        }
    }

    @Test("An inner bundle has no more effects than the outer one")
    func nested() async throws {
        try await TestWorkbench.withRunner { bench in
            try bench.write(
                "name: inner\npermissions: {effects: destroys}\nsteps: [{action: lab.break}]", to: "inner.yaml")
            let failure = try await bench.failure(ofBundle: "name: outer\nsteps: [{bundle: inner.yaml}]")
            #expect(failure?.message.contains("the bundle 'outer' does not permit it") == true)
        }
    }

    @Test(
        "A bundle may connect only to listed servers",
        arguments: [
            ("", false), ("permissions: {hosts: [set-up]}", false), ("permissions: {hosts: []}", false),
            ("permissions: {hosts: ['*.example.com']}", false),
            ("permissions: {hosts: ['127.0.0.*']}", true), ("permissions: {hosts: [localhost, '127.0.0.1']}", true),
        ])
    func hosts(permissions: String, isAllowed: Bool) async throws {
        try await ScriptedServer.run({ try $0.answer(200, [:], "hello") }) { server in
            try await TestWorkbench.withRunner { bench in
                let run = try await bench.run(
                    "name: p\n\(permissions)\nsteps: [{action: lab.get, with: {url: 'http://127.0.0.1:\(server.port)/'}}]"
                )
                let step = run.json["steps"]?[0]
                #expect(run.exit == (isAllowed ? .done : .usage))
                #expect(step?["result"] == (isAllowed ? "hello" : nil))
                #expect(step?["error"]?["code"] == (isAllowed ? nil : "http.not-permitted"))
            }
        }
    }

    @Test("A bundle may connect to set-up servers unless it lists others")
    func setUp() async throws {
        try await ScriptedServer.run({ try $0.answer(200, [:], "hello") }) { server in
            try await TestWorkbench.withRunner { bench in
                bench.environment["LAB_SERVER"] = "127.0.0.1:\(server.port)"
                for (permissions, isAllowed) in [
                    ("{}", true), ("{hosts: [set-up]}", true), ("{hosts: [example.com]}", false),
                ] {
                    let run = try await bench.run(
                        "name: p\npermissions: \(permissions)\n"
                            + "steps: [{action: lab.get, with: {url: 'http://127.0.0.1:\(server.port)/'}}]")
                    #expect(run.exit == (isAllowed ? .done : .usage), "\(permissions)")
                }
            }
        }
    }

    @Test("A bundle may read files in the current folder and in listed folders, also by computed paths")
    func reading() async throws {
        try await TestWorkbench.withRunner { bench in
            try bench.write("inside", to: "in/a.txt")
            try bench.write("outside", to: "secret.txt")
            try #require(unsafe symlink("../secret.txt", "\(bench.folder)/in/link.txt") == 0)
            func text(_ path: String, _ permissions: String = "{paths: ['\(bench.folder)/in']}") -> String {
                "name: p\npermissions: \(permissions)\nsteps: [{action: file.read, with: {path: \"\(path)\"}}]"
            }
            #expect(try await bench.run(text("\(bench.folder)/in/a.txt")).exit == .done)
            let checked = try #require(
                try await bench.failure(ofBundle: text("\(bench.folder)/secret.txt"), ["check": true]))
            #expect(checked.exit == .usage && checked.code == "bundle.invalid")
            #expect(checked.message.contains("may not read \(bench.folder)/secret.txt; add \"\(bench.folder)\" to"))
            let standard = try #require(try await bench.failure(ofBundle: text("\(bench.folder)/in/a.txt", "{}")))
            #expect(standard.message.contains("add paths: [., \"\(bench.folder)/in\"] to permissions"))
            for (path, code) in [
                ("${{ '\(bench.folder)' }}/in/../secret.txt", "access.denied"),
                ("${{ '\(bench.folder)' }}/in/link.txt", "file.denied"),
                ("${{ '/proc/self/environ' }}", "access.denied"),
            ] {
                let run = try await bench.run(text(path))
                #expect(run.exit != .done && run.json["steps"]?[0]?["error"]?["code"]?.string == code, "\(run.json)")
                #expect(!run.json.text().contains("outside"))
            }
            // The control: outside of a bundle all files can be read.
            for path in ["in/link.txt", "in/../secret.txt"] {
                let found = try await bench.perform("file.read", ["path": .string("\(bench.folder)/\(path)")])
                #expect(found.json["text"] == "outside")
            }
        }
    }

    @Test("A bundle may never write git hooks, Martlet's settings or its data")
    func writing() async throws {
        try await TestWorkbench.withRunner { bench in
            for path in [".git/hooks/post-checkout", ".martlet/config.json", "home/config/config.json", "home/data/x"] {
                let run = try await bench.run(
                    "name: p\npermissions: {effects: writes, paths: ['\(bench.folder)']}\n"
                        + "steps: [{action: file.write, with: {path: \"${{ '\(bench.folder)' }}/\(path)\", text: x}}]")
                #expect(run.json["steps"]?[0]?["error"]?["code"] == "access.denied", "\(path): \(run.json)")
                #expect(!Files.exists("\(bench.folder)/\(path)"))
            }
        }
    }

    @Test("An inner bundle cannot leave the folders of the outer one through links")
    func nestedFolders() async throws {
        try await TestWorkbench.withRunner { bench in
            try bench.write("outside", to: "out/secret.txt")
            try bench.write("inside", to: "in/a.txt")
            try #require(unsafe symlink("../out", "\(bench.folder)/in/data") == 0)
            try bench.write(
                "name: inner\npermissions: {paths: ['\(bench.folder)/in/data']}\n"
                    + "steps: [{action: file.read, with: {path: \"${{ '\(bench.folder)' }}/in/data/secret.txt\"}}]",
                to: "inner.yaml")
            #expect(
                try await bench.perform("run.start", ["bundle": .string("\(bench.folder)/inner.yaml")]).exit == .done)
            let run = try await bench.run(
                "name: outer\npermissions: {paths: ['\(bench.folder)/in']}\nsteps: [{bundle: inner.yaml}]")
            #expect(run.json.text().contains("file.denied") && !run.json.text().contains("outside"), "\(run.json)")
        }
    }

    @Test("A bundle cannot write git hooks through a link, even if it lists the link")
    func links() async throws {
        try await TestWorkbench.withRunner { bench in
            try Files.makeDirectories("\(bench.folder)/.git/hooks")
            try #require(unsafe symlink(".git/hooks", "\(bench.folder)/tools") == 0)
            let run = try await bench.run(
                "name: p\npermissions: {effects: writes, paths: ['\(bench.folder)/tools']}\n"
                    + "steps: [{action: file.write, with: {path: \"\(bench.folder)/tools/pre-commit\", text: x}}]")
            #expect(run.json["steps"]?[0]?["error"]?["code"] == "file.denied", "\(run.json)")
            #expect(try Files.list("\(bench.folder)/.git/hooks").isEmpty)
        }
    }

    @Test("A cached result is not shared with other bundles or other permissions")
    func cached() async throws {
        try await TestWorkbench.withRunner { bench in
            try bench.write("inside", to: "in/a.txt")
            func text(_ permissions: String) -> String {
                "name: p\npermissions: \(permissions)\nsteps: [{action: file.read, cache: {for: 1d}, "
                    + "with: {path: \"${{ '\(bench.folder)' }}/in/a.txt\"}}]"
            }
            let allowed = "{paths: ['\(bench.folder)/in']}"
            #expect(try await bench.run(text(allowed)).exit == .done)
            try bench.write("changed", to: "in/a.txt")
            // The control: the same bundle uses its cached result.
            #expect(try await bench.run(text(allowed)).json["steps"]?[0]?["result"]?["text"] == "inside")
            #expect(try await bench.run(text("{}")).json["steps"]?[0]?["error"]?["code"] == "access.denied")
            let other = try await bench.run(text(allowed), file: "other.yaml")
            #expect(other.json["steps"]?[0]?["result"]?["text"] == "changed")
        }
    }

    @Test("A variable with a secret-like name must be listed in the permissions")
    func variables() async throws {
        try await TestWorkbench.withRunner { bench in
            (bench.environment["CI_TOKEN"], bench.environment["PLACE"]) = ("very-secret-4711", "Bern")
            func text(_ permissions: String) -> String {
                "name: p\npermissions: \(permissions)\nenv: {t: {variable: CI_TOKEN}, p: {variable: PLACE}}\n"
                    + "steps: [{action: lab.echo, with: {value: \"${{ env.p }} ${{ env.t }}\"}}]"
            }
            let refused = try #require(try await bench.failure(ofBundle: text("{}")))
            #expect(refused.message.contains("add secrets: [\"CI_TOKEN\"] to permissions"), "\(refused.message)")
            let run = try await bench.run(text("{secrets: [CI_TOKEN]}"))
            #expect(run.exit == .done && !run.json.text().contains("very-secret"), "\(run.json)")
            for (name, isSecret) in [
                ("API_KEY_2", true), ("GITHUB_PAT", true), ("MYSQL_PWD", true), ("pg_passwd", true), ("PWD", false),
                ("PATTERN", false), ("COMPASS", false),
            ] {
                bench.environment[name] = "very-secret-4712"
                let failure = try await bench.failure(
                    ofBundle: "name: p\nenv: {v: {variable: \(name)}}\nsteps: [{action: lab.echo}]")
                #expect((failure != nil) == isSecret, "\(name)")
            }
            // The check shows the variables that the bundle reads.
            bench.output = RecordingOutput()
            _ = try await bench.run(
                "name: p\nenv: {v: {variable: PLACE}}\nsteps: [{action: lab.echo}]", ["check": true])
            #expect(bench.output.events.last?.text?.contains("variables      PLACE\n") == true)
        }
    }

    @Test("A bundle may read only listed secrets, in its environment and in actions")
    func secrets() async throws {
        try await TestWorkbench.withRunner { bench in
            bench.environment["DEMO_API_KEY"] = "very-secret-4711"
            func text(_ permissions: String) -> String {
                """
                name: p
                permissions: \(permissions)
                env: {key: {secret: demo}}
                steps: [{id: own, action: lab.secret, with: {name: "${{ 'de' }}mo"}}]
                """
            }
            #expect(try await bench.run(text("{secrets: [demo]}")).exit == .done)
            let refused = try #require(try await bench.failure(ofBundle: text("{}")))
            #expect(refused.exit == .usage && refused.message.contains("add secrets: [\"demo\"] to permissions"))
            let asked = try await bench.run(
                "name: p\nsteps: [{action: lab.secret, with: {name: \"${{ 'de' }}mo\"}}]")
            #expect(asked.json["steps"]?[0]?["error"]?["code"] == "access.denied", "\(asked.json)")
        }
    }

    @Test("An inner bundle may connect only to servers that both bundles list")
    func nestedHosts() async throws {
        try await ScriptedServer.run({ try $0.answer(200, [:], "hello") }) { server in
            try await TestWorkbench.withRunner { bench in
                try bench.write(
                    "name: inner\npermissions: {hosts: ['127.0.0.*']}\n"
                        + "steps: [{action: lab.get, with: {url: 'http://127.0.0.1:\(server.port)/'}}]",
                    to: "inner.yaml")
                for (outer, isAllowed) in [("[]", false), ("['127.*']", true)] {
                    let run = try await bench.run(
                        "name: outer\npermissions: {hosts: \(outer)}\nsteps: [{bundle: inner.yaml}]")
                    #expect(run.exit == (isAllowed ? .done : .usage), "\(run.json.text())")
                    #expect(run.json.text().contains("http.not-permitted") != isAllowed)
                    #expect(run.json.text().contains("the bundle 'outer' may not connect to 127.0.0.1") != isAllowed)
                }
            }
        }
    }
}
