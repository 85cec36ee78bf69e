import FileKit
import JSON
import ProcessKit
import Testing

/// Tests `martlet run install --write` with replacements for the programs of the machine.
@Suite("run install", .timeLimit(.minutes(5)))
struct RunnerInstallTests {
    private let bundle = """
        name: nightly
        schedule: {cron: "30 3 * * *"}
        inputs: {who: {}}
        permissions: {actions: [file.write]}
        steps: [{action: file.write, with: {path: done.txt, text: "${{ inputs.who }}"}}]
        """

    /// Provides a home whose `crontab` keeps its table in a file.
    private func withCrontab(_ script: String, _ body: (RunnerHome) async throws -> Void) async throws {
        try await RunnerHome.with { home in
            var home = home
            home.variables["PATH"] = "\(home.path)/bin:/usr/bin:/bin"
            try home.write(bundle)
            try Files.makeDirectories("\(home.path)/bin")
            try Files.writeAtomically(Array("#!/bin/sh\n\(script)\n".utf8), to: "\(home.path)/bin/crontab", mode: 0o755)
            try await body(home)
        }
    }

    private let crontab = """
        case "$1" in
        -l) cat "$HOME/table" 2>/dev/null || { echo "no crontab for ada" >&2; exit 1; } ;;
        -) cat >"$HOME/table" ;;
        *) exit 64 ;;
        esac
        """

    @Test("A bundle has one crontab line, however often it is installed, and the line runs it")
    func cron() async throws {
        try await withCrontab(crontab) { home in
            let shown = try await home.martlet("run", "install", "b.yaml", "--cron", "--input", "who=Bob", "--json")
            #expect(try shown.output.json()["written"] == false)
            #expect(!Files.exists("\(home.path)/table"))
            let first = try await home.martlet("run", "install", "b.yaml", "--cron", "--write", "--input", "who=Bob")
            #expect(first.code == 0, "\(first.errors)")
            #expect(first.output.split(separator: "30 3 * * * cd ").count == 2, "\(first.output)")
            try home.write("MAILTO=ada\n\(try home.read("table"))@daily tidy # martlet: other\n", "table")
            let again = try await home.martlet(
                "run", "install", "b.yaml", "--cron", "--write", "--input", "who=100% Ada", "--json")
            #expect(try again.output.json()["written"] == true)
            let lines = try home.read("table").lines
            #expect(lines.count == 3 && lines[0] == "MAILTO=ada" && lines[1] == "@daily tidy # martlet: other")
            let line = try #require(lines.last)
            #expect(line.hasPrefix("30 3 * * * ") && line.hasSuffix(" # martlet: nightly"))
            // Like cron: a shell runs the text after the fields, without the backslashes before percent signs.
            let command = String(line.dropFirst("30 3 * * * ".count)).replacing("\\%", with: "%")
            let run = try await Program.martlet.shell(command, home: "/", adding: home.variables)
            #expect(run.code == 0, "\(run.output)\(run.errors)")
            #expect(try home.read("done.txt") == "100% Ada")
            // Quiet except for errors, which are in the log.
            let log = "../martlet/state/logs/nightly.log"
            #expect(try home.read(log) == "")
            try home.write(bundle.replacing("path: done.txt", with: "path: done.txt/no"))
            #expect(try await Program.martlet.shell(command, home: "/", adding: home.variables).code != 0)
            #expect(try home.read(log).contains("nightly failed"))
            let removed = try await home.martlet("run", "uninstall", "b.yaml", "--json")
            #expect(removed.code == 0 && removed.output.contains("\"crontab\""), "\(removed.errors)")
            #expect(try home.read("table").lines == ["MAILTO=ada", "@daily tidy # martlet: other"])
        }
    }

    @Test("A missing crontab program is reported") func withoutCron() async throws {
        try await RunnerHome.with { home in
            var home = home
            home.variables["PATH"] = "\(home.path)/nothing"
            try home.write(bundle)
            let run = try await home.martlet("run", "install", "b.yaml", "--cron", "--write")
            #expect(run.code == 2 && run.errors.contains("'crontab' is not installed"), "\(run.errors)")
        }
    }

    @Test(
        "The crontab is unchanged if it cannot be read or written",
        arguments: [
            ("echo 'ada may not use it' >&2; exit 1", "ada may not use it"),
            ("test $1 = -l && exit; cat >/dev/null; echo 'disk full' >&2; exit 1", "disk full"),
        ])
    func refused(script: String, words: String) async throws {
        try await withCrontab(script) { home in
            let run = try await home.martlet("run", "install", "b.yaml", "--cron", "--write")
            #expect(run.code == 2 && run.errors.contains(words), "\(run.errors)")
            #expect(run.errors.contains("cannot change the crontab"))
        }
    }

    @Test("The units are in the user's systemd folder, and systemd accepts them") func systemd() async throws {
        try await RunnerHome.with { home in
            var home = home
            home.variables["XDG_CONFIG_HOME"] = "\(home.path)/a config"
            try home.write(bundle)
            let run = try await home.martlet(
                "run", "install", "b.yaml", "--systemd", "--write", "--input", "who=100% $Ada", "--json")
            #expect(run.code == 0, "\(run.errors)")
            let written = try run.output.json()
            #expect(written["written"] == true && written["next"]?.string?.contains("martlet-nightly.timer") == true)
            let folder = "a config/systemd/user"
            let timer = try home.read("\(folder)/martlet-nightly.timer")
            #expect(timer.contains("OnCalendar=*-*-* 3:30:00\n"))
            let service = try home.read("\(folder)/martlet-nightly.service")
            #expect(service.contains("\"who=100%% $$Ada\""))
            let units = ["service", "timer"].map { "\(home.path)/\(folder)/martlet-nightly.\($0)" }
            let checked = try await Launcher.standalone.run(
                Command(
                    "systemd-analyze", ["--user", "verify", "--man=no"] + units,
                    environment: CommandEnvironment([
                        "PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": home.path, "HOME": home.path,
                    ])), timeout: .seconds(30))
            let words = String(decoding: checked.errors, as: UTF8.self)
            #expect(checked.status == .exited(0) && !words.contains("martlet-nightly"), "\(words)")
        }
    }
}
