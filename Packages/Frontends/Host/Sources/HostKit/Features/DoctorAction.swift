import Capabilities
import FileKit
import JSON
import Registry
import Settings

/// `martlet doctor`
enum DoctorAction {
    static var doctor: Action {
        Action(
            "doctor", "Check that everything this build needs is available and healthy", .reads,
            .flag("strict", "Treat warnings as failures"),
            .option("limit", "Time limit for each check", default: Duration.seconds(5))
        ) { context, strict, limit in
            let checks = context.registry.checks
            let rows = await withTaskGroup(of: (Int, CheckRow).self) { group in
                for (index, check) in checks.enumerated() {
                    group.addTask { (index, CheckRow(check, await look(check, context.host, limit))) }
                }
                var rows: [(Int, CheckRow)] = []
                for await row in group {
                    rows.append(row)
                    context.progress("checking", completed: rows.count, of: checks.count)
                }
                return rows.sorted { $0.0 < $1.0 }.map(\.1)
            }
            return Diagnosis(rows: rows, isStrict: strict)
        }
        .always()
        .details(
            "Checks the settings, the folders, the libraries and whatever each feature needs, and says how to fix what "
                + "is wrong. Exits with 0 if all is well or there are only warnings, and with 1 if a check fails; with "
                + "--strict a warning counts as a failure."
        )
        .example("martlet doctor --strict", "In a script that must stop at a warning")
    }
}

/// Runs a check. A check that does not answer in time has failed: it is cancelled and abandoned.
private func look(_ check: HealthCheck, _ host: Host, _ limit: Duration) async -> HealthCheck.Finding {
    switch await bounded(by: limit, on: host.clock, { await check.look(host) }) {
    case .ended(.success(let finding)): finding
    case .timedOut:
        .failure(
            "no answer within \(limit.words)",
            mend: "allow more time with --limit, or find out what the check waits for")
    case .ended(.failure), .stopped: .failure("the check was cancelled", mend: "run 'martlet doctor' again")
    }
}

private struct CheckRow: Record {
    let id: String
    let state: String
    let found: String
    let mend: String?

    init(_ check: HealthCheck, _ finding: HealthCheck.Finding) {
        id = check.id
        switch finding {
        case .ok(let found): (state, self.found, mend) = ("ok", found, nil)
        case .warning(let found, let mend): (state, self.found, self.mend) = ("warning", found, mend)
        case .failure(let found, let mend): (state, self.found, self.mend) = ("failed", found, mend)
        }
    }

    static let fields: [Field<CheckRow>] = [
        Field("id", "The check", .name) { $0.id },
        Field("state", "ok, warning or failed", .state) { $0.state },
        Field("found", "What the check found") { $0.found },
        Field("mend", "How to fix it") { $0.mend },
    ]
}

/// The rows and the exit code that follows from them.
private struct Diagnosis: OutputValue {
    let rows: [CheckRow]
    let isStrict: Bool

    static var schema: Schema { [CheckRow].schema }
    var json: JSON { rows.json }
    var exit: ExitCode {
        rows.contains { $0.state == "failed" || isStrict && $0.state == "warning" } ? .failed : .done
    }
}

/// The checks that do not depend on features.
enum HostChecks {
    static var all: [HealthCheck] {
        [settings, variables, project, composition, libraries, data] + folders
    }

    private static let settings = HealthCheck("host.settings", "the settings") { host in
        let problems = host.settings.problems
        guard problems.isEmpty else {
            return .failure(
                problems.map(\.description).joined(separator: "; "),
                mend: "run 'martlet config edit', or edit the file by hand")
        }
        let files = ([host.locations.userFile] + [host.locations.project].compactMap { $0 }).filter(Files.exists)
        let found = files.isEmpty ? "no settings file; defaults are used" : files.joined(separator: ", ")
        return .ok(([found] + host.absences).joined(separator: "; "))
    }

    private static let variables = HealthCheck("host.variables", "environment variables") { host in
        let unknown = host.settings.unknownVariables.map { variable in
            let nearest = SettingsVariables.nearest(to: variable, host.catalogue)
            return variable + (nearest.map { " (did you mean \($0)?)" } ?? "")
        }
        guard !unknown.isEmpty else { return .ok("all known") }
        return .warning(
            "no setting uses \(unknown.joined(separator: ", "))",
            mend: "unset it; 'martlet docs markdown' lists the variables")
    }

    private static let project = HealthCheck("host.project", "the project's settings") { host in
        let inert = host.settings.inert
        guard let file = host.locations.project else { return .ok("not in a project with settings") }
        guard !inert.isEmpty else { return .ok("\(file) is in use") }
        let keys = inert.map { $0.key.joined(separator: ".") }.joined(separator: ", ")
        return .warning(
            "\(file) is not trusted, so these settings are not used: \(keys)",
            mend: "read it, then run 'martlet config trust'")
    }

    private static let composition = HealthCheck("host.features", "how the features fit together") { host in
        let problems = host.composition.problems
        guard problems.isEmpty else {
            return .failure(problems.map(\.description).joined(separator: "; "), mend: "'martlet features' shows each")
        }
        return .ok("\(host.composition.features.count) on, \(host.composition.off.count) off")
    }

    private static let libraries = HealthCheck("host.libraries", "the libraries") { host in
        var found: [String] = []
        var problems: [String] = []
        // Several features may use one library.
        for library in host.registry.libraries {
            do {
                let words = "\(library.name) \(try library.installed())"
                if !found.contains(words) { found.append(words) }
            } catch {
                let words = AnyFailure(error).message
                if !problems.contains(words) { problems.append(words) }
            }
        }
        guard problems.isEmpty else {
            return .failure(problems.joined(separator: "; "), mend: "install the missing libraries")
        }
        return .ok(found.isEmpty ? "only those of the system" : found.joined(separator: ", "))
    }

    private static let data = HealthCheck("host.data", "the data") { host in
        let stores = host.registry.all((any DataStore).self)
        do {
            let setAside = try stores.flatMap { try $0.setAside() }
            guard setAside.isEmpty else {
                return .warning(
                    "damaged data was set aside and replaced by an empty store: \(setAside.joined(separator: ", "))",
                    mend: "restore a backup with 'martlet data restore', then move these files away")
            }
        } catch {
            return .failure(AnyFailure(error).message, mend: "give your user permission to read it")
        }
        return .ok("\(stores.count) stores; 'martlet data check' checks their content")
    }

    private static let folders: [HealthCheck] = [
        folder("config") { $0.config }, folder("data") { $0.data }, folder("state") { $0.state },
        folder("cache") { $0.cache },
    ]

    private static func folder(
        _ name: String, _ path: @escaping @Sendable (Locations) -> String
    ) -> HealthCheck {
        HealthCheck("host.folder.\(name)", "the folder for \(name)") { host in
            let path = path(host.locations)
            guard !path.isEmpty else { return .failure("no folder", mend: "set HOME") }
            do {
                guard Files.exists(path) else { return try parentIsWritable(path) }
                let info = try Files.info(path)
                guard info.kind == .directory else {
                    return .failure(
                        "\(path) is not a folder", mend: "move it away, or set MARTLET_HOME to another folder")
                }
                guard Files.isWritable(path) else {
                    return .failure("\(path) is not writable", mend: "give your user permission to write there")
                }
                return .ok(path)
            } catch {
                return .failure(AnyFailure(error).message, mend: "correct its permissions, or set MARTLET_HOME")
            }
        }
    }

    /// A folder that does not exist yet is created at first use, so its nearest existing parent must be writable.
    private static func parentIsWritable(_ path: String) throws -> HealthCheck.Finding {
        var parent = path
        repeat {
            parent = PathParts(parent).folder
        } while !Files.exists(parent)
        guard Files.isWritable(parent) else {
            return .warning("\(path) cannot be created", mend: "make \(parent) writable, or set MARTLET_HOME")
        }
        return .ok("\(path) (created when needed)")
    }
}
